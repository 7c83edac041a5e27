import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { anOrganization } from "../../../../../test/records/builders.js"
import { type Database, databases } from "../../../../../test/store/databases.js"
import { aHostProvider, browserOf, callbackOf, type DescribedIdentity, logInAs, sessionOf } from "../../../../../test/outside/hostLogins.js"
import { anAccount, clientId, clientSecret, type OidcServer, startOidc, throughProvider } from "../../../../../test/outside/oidc.js"
import { overtaking } from "../../../../../test/store/overtaking.js"
import { onceOn, type ServerOptions, startServer, type TestServer } from "../../../../../test/http/server.js"

const callback = callbackOf("oidc")

const claimNames = ["email", "email_verified", "preferred_username", "orgs", "groups", "roles", "site_roles"]

const Member = Schema.Struct({ roles: Schema.Array(Schema.Struct({ name: Schema.String })) })
const Identified = Schema.Struct({ id: Uuid.Uuid })
const Me = Schema.Struct({
  id: Uuid.Uuid,
  organization_ids: Schema.Array(Uuid.Uuid),
  roles: Schema.Array(Schema.Struct({ name: Schema.String }))
})

const everything = { has: () => true }

/** A provider and the servers of a suite that trust it, with a person for each test. */
const aWorld = (storage: Database[1]) => {
  let provider: OidcServer | undefined
  const servers: Array<TestServer> = []
  let people = 0
  let shared: Promise<TestServer> | undefined
  beforeAll(async () => {
    provider = await startOidc({
      redirectUris: [callback],
      configuration: { claims: { openid: ["sub", ...claimNames] }, scopes: ["openid", "offline_access", "email", "profile"] }
    })
  })
  afterAll(async () => {
    for (const server of servers) await server.close()
    await provider?.close()
  })
  const running = (): OidcServer => {
    if (provider === undefined) throw new Error("the provider has not started")
    return provider
  }
  const serve = async (options: ServerOptions = {}): Promise<TestServer> => {
    const server = await startServer(storage, {
      entitlements: everything,
      ...options,
      options: { oidcClientId: clientId, oidcClientSecret: clientSecret, oidcIssuerUrl: running().issuer, ...options.options }
    })
    servers.push(server)
    return server
  }
  return {
    /** A server of the test's own. */
    serve,
    /** The server of the tests without options, on which no membership follows from claims yet. */
    share: async (): Promise<TestServer> => {
      const server = await (shared ??= serve())
      const home = `/organizations/${await defaultId(server)}/settings/idpsync`
      await patch(server, "/settings/idpsync/organization", { field: "", mapping: {}, organization_assign_default: true })
      await patch(server, `${home}/groups`, { field: "" })
      await patch(server, `${home}/roles`, { field: "" })
      return server
    },
    /** A user who logs in repeatedly, with these claims each time. */
    aPerson: (server: TestServer) => {
      const name = `person-${++people}`
      return {
        name,
        logIn: async (claims: Readonly<Record<string, unknown>> = {}) => {
          const account = { email: `${name}@example.com`, email_verified: true, preferred_username: name, ...claims }
          running().accounts.set(name, anAccount(account))
          const browser = browserOf(server, { "x-account": name })
          const page = await browser.visit(await throughProvider(browser, running().issuer, await browser.visit(callback)))
          const token = sessionOf(browser) ?? ""
          return {
            status: page.status,
            text: page.text,
            token,
            me: async () => (await server.call("GET", "/users/me", { token })).as(Me)
          }
        }
      }
    }
  }
}

const patch = async (server: TestServer, path: string, body: unknown) => {
  const answer = await server.call("PATCH", path, { token: server.owner().token, body })
  expect([answer.status, answer.text]).toStrictEqual([200, answer.text])
}

const anotherOrganization = (server: TestServer) =>
  server.run(
    Effect.gen(function* () {
      const organization = yield* anOrganization()
      yield* (yield* OrganizationRepository).insert(organization)
      return organization.id
    })
  )

const defaultId = (server: TestServer) =>
  server.run(
    Effect.map(
      Effect.flatMap(OrganizationRepository, (organizations) => Effect.flatten(organizations.default)),
      ({ id }) => id
    )
  )

/** Names and sources of the groups that a user was put into. */
const groupsOf = (server: TestServer, userId: string) =>
  server.run(
    Effect.flatMap(
      Effect.flatten(Effect.serviceOption(SqlClient.SqlClient)),
      (sql) => sql<{ name: string; source: string }>`SELECT g.name, g.source FROM group_members m JOIN groups g ON g.id = m.group_id
        WHERE m.user_id = ${userId} ORDER BY g.name`
    )
  )

const rolesIn = async (server: TestServer, organization: string, user: string) =>
  (await server.call("GET", `/organizations/${organization}/members/${user}`, { token: server.owner().token }))
    .as(Member)
    .roles.map(({ name }) => name)

const aGroup = async (server: TestServer, organization: string, name: string) =>
  (await server.call("POST", `/organizations/${organization}/groups`, { token: server.owner().token, body: { name } })).as(Identified).id

describe.each(databases)("logins on %s", (kind, storage) => {
  const { aPerson, serve, share } = aWorld(storage)
  const once = onceOn("logins", kind)

  describe("that memberships follow from", () => {
    it("make the user a member of exactly the mapped organizations", async () => {
      const server = await share()
      const [home, one, two] = [await defaultId(server), await anotherOrganization(server), await anotherOrganization(server)]
      const nowhere = "00000000-0000-4000-8000-000000000001"
      const mapping = { one: [one], both: [one, two], lost: [nowhere] }
      await patch(server, "/settings/idpsync/organization", { field: "orgs", mapping, organization_assign_default: true })
      const person = aPerson(server)
      const idsOf = async (claims: object) => {
        const { me, status } = await person.logIn({ ...claims })
        expect(status).toBe(307)
        return (await me()).organization_ids.toSorted()
      }
      expect(await idsOf({ orgs: ["one", "lost", "unknown"] })).toStrictEqual([home, one].toSorted())
      expect(await idsOf({ orgs: "both" })).toStrictEqual([home, one, two].toSorted())
      expect(await idsOf({})).toStrictEqual([home])
      await patch(server, "/settings/idpsync/organization/config", { field: "orgs", assign_default: false })
      expect(await idsOf({ orgs: ["both"] })).toStrictEqual([one, two].toSorted())
      const { id } = await (await person.logIn({ orgs: ["one"] })).me()
      const entries = await server.run(auditEntries({ resource_type: "organization_member", resource_id: id }))
      const moves = entries.map(({ action, additional_fields, organization_id }) => [
        action,
        organization_id,
        additional_fields["automatic_subsystem"]
      ])
      const of = (organization: string) => moves.filter(([, each]) => each === organization).map(([action]) => action)
      expect([of(home), of(one), of(two)]).toStrictEqual([
        ["delete"],
        ["create", "delete", "create"],
        ["create", "delete", "create", "delete"]
      ])
      expect(new Set(moves.map(([, , subsystem]) => subsystem))).toStrictEqual(new Set(["idp_sync"]))
      const refused = await server.call("POST", `/organizations/${two}/members/${id}`, { token: server.owner().token })
      expect(refused.status).toBe(400)
    })

    once("restore neither rights nor bans of a former membership", async () => {
      const server = await share()
      const organization = await anotherOrganization(server)
      const settings = { field: "orgs", mapping: { one: [organization] }, organization_assign_default: true }
      await patch(server, "/settings/idpsync/organization", settings)
      const person = aPerson(server)
      const { id } = await (await person.logIn({ orgs: ["one"] })).me()
      const roles = ["organization-auditor", "organization-workspace-creation-ban"]
      const path = `/organizations/${organization}/members/${id}/roles`
      expect((await server.call("PUT", path, { token: server.owner().token, body: { roles } })).status).toBe(200)
      await person.logIn({ orgs: ["one"] })
      expect(await rolesIn(server, organization, id)).toStrictEqual(roles)
      await person.logIn()
      await person.logIn({ orgs: ["one"] })
      expect(await rolesIn(server, organization, id)).toStrictEqual([])
      const entries = await server.run(auditEntries({ resource_type: "organization_member", resource_id: id }))
      const left = entries.find(({ action, organization_id }) => action === "delete" && organization_id === organization)
      expect(left?.diff["roles"]).toStrictEqual({ old: roles, secret: false })
    })

    once("fail where the claim cannot be read, and change nothing", async () => {
      const server = await share()
      await patch(server, "/settings/idpsync/organization", { field: "orgs", organization_assign_default: true })
      const person = aPerson(server)
      expect((await person.logIn({ orgs: "a,b" })).status).toBe(400)
      expect((await server.call("GET", `/users/${person.name}`, { token: server.owner().token })).status).toBe(404)
      const first = await person.logIn({ orgs: [] })
      expect((await person.logIn({ orgs: [7] })).status).toBe(400)
      expect((await first.me()).organization_ids).toHaveLength(1)
    })
  })

  describe("that groups follow from", () => {
    once("put the user into the groups that claims name, and into no others", async () => {
      const server = await share()
      const home = await defaultId(server)
      const elsewhere = await anotherOrganization(server)
      const [mapped, foreign] = [await aGroup(server, home, "mapped"), await aGroup(server, elsewhere, "foreign")]
      const path = `/organizations/${home}/settings/idpsync/groups`
      await patch(server, path, { field: "groups", regex_filter: "^dev-", auto_create_missing_groups: true })
      const person = aPerson(server)
      const groupsAfter = async (groups: unknown) => {
        const { me, status } = await person.logIn(groups === undefined ? {} : { groups })
        expect(status).toBe(307)
        return (await groupsOf(server, (await me()).id)).map(({ name, source }) => `${name} ${source}`)
      }
      expect(await groupsAfter(["dev-a", "ops", "dev-a", "Everyone"])).toStrictEqual(["dev-a oidc"])
      expect(await groupsAfter(["dev-b", "dev-a"])).toStrictEqual(["dev-a oidc", "dev-b oidc"])
      // Unreadable claims change nothing and do not prevent the login
      expect(await groupsAfter("dev-a,dev-c")).toStrictEqual(["dev-a oidc", "dev-b oidc"])
      expect(await groupsAfter(undefined)).toStrictEqual([])
      await patch(server, path, { field: "groups", mapping: { lead: [mapped, foreign, home], "dev-a": [] } })
      expect(await groupsAfter(["lead", "dev-a", "dev-b", "dev-new", "a\0b", "Everyone"])).toStrictEqual(["dev-b oidc", "mapped user"])
      // Nothing follows without a field
      await patch(server, `${path}/config`, { field: "" })
      expect(await groupsAfter([])).toStrictEqual(["dev-b oidc", "mapped user"])
    })

    it("make no group in an organization that is being deleted", async () => {
      const server = await share()
      const id = await anotherOrganization(server)
      const person = aPerson(server)
      const { id: user_id } = await (await person.logIn()).me()
      await server.run(
        Effect.gen(function* () {
          const { addMember } = yield* OrganizationRepository
          yield* addMember({ organization_id: id, user_id, roles: [], created_at: yield* Timestamp.now })
        })
      )
      const settings = { field: "groups", mapping: {}, regex_filter: null, auto_create_missing_groups: true }
      await patch(server, `/organizations/${id}/settings/idpsync/groups`, settings)
      const remove = () => server.call("DELETE", `/organizations/${id}`, { token: server.owner().token })
      const answers = await overtaking(server, "LOCK TABLE custom_roles IN SHARE MODE", remove, () => person.logIn({ groups: ["late"] }))
      expect(answers.map(({ status }) => status)).toStrictEqual([200, 307])
      const left = Effect.flatMap(
        Effect.flatten(Effect.serviceOption(SqlClient.SqlClient)),
        (sql) => sql`SELECT name FROM groups WHERE organization_id = ${id}`
      )
      expect(await server.run(left)).toStrictEqual([])
    })

    it("create each group once for concurrent logins", async () => {
      const server = await share()
      const home = await defaultId(server)
      await patch(server, `/organizations/${home}/settings/idpsync/groups`, { field: "groups", auto_create_missing_groups: true })
      const people = Array.from({ length: 4 }, () => aPerson(server))
      const logIns = await Promise.all(people.map(({ logIn }) => logIn({ groups: ["Team of one / all", "other"] })))
      expect(logIns.map(({ status }) => status)).toStrictEqual([307, 307, 307, 307])
      for (const { me } of logIns) {
        expect((await groupsOf(server, (await me()).id)).map(({ name }) => name).toSorted()).toStrictEqual(["Team of one / all", "other"])
      }
    })
  })

  describe("that roles follow from", () => {
    it("replace the roles that the user was given in the organization", async () => {
      const server = await share()
      const home = await defaultId(server)
      const { token } = server.owner()
      await server.call("POST", `/organizations/${home}/members/roles`, {
        token,
        body: { name: "reader", display_name: "", organization_permissions: [{ resource_type: "template", action: "read" }] }
      })
      const path = `/organizations/${home}/settings/idpsync/roles`
      const mapping = { lead: ["organization-admin", "reader", "organization-member", "organization-workspace-access"] }
      await patch(server, path, { field: "roles", mapping })
      const person = aPerson(server)
      const { me } = await person.logIn({ roles: ["lead", "organization-auditor", "nothing", "user-admin"] })
      const { id } = await me()
      expect(await rolesIn(server, home, id)).toStrictEqual(["organization-admin", "organization-auditor", "reader"])
      const put = () => server.call("PUT", `/organizations/${home}/members/${id}/roles`, { token, body: { roles: [] } })
      expect((await put()).status).toBe(400)
      // What cannot be read changes nothing
      await person.logIn({ roles: { lead: true } })
      expect(await rolesIn(server, home, id)).toHaveLength(3)
      await person.logIn({ roles: ["reader"] })
      expect(await rolesIn(server, home, id)).toStrictEqual(["reader"])
      await person.logIn()
      expect(await rolesIn(server, home, id)).toStrictEqual([])
      const writes = await server.run(auditEntries({ resource_type: "organization_member", resource_id: id }))
      expect(
        writes.filter(({ action, status_code }) => action === "write" && status_code < 400).map(({ diff }) => diff["roles"]?.new)
      ).toStrictEqual([["organization-admin", "organization-auditor", "reader"], ["reader"], []])
      await patch(server, `${path}/config`, { field: "" })
      expect((await put()).status).toBe(200)
    })
  })

  it("of one user at once leave the result of one of them", async () => {
    const server = await startServer(storage, { loginProviders: [aHostProvider()], entitlements: everything })
    try {
      const organizations = [await anotherOrganization(server), await anotherOrganization(server)]
      const mapping = Object.fromEntries(organizations.map((id) => [id, [id]]))
      await patch(server, "/settings/idpsync/organization", { field: "orgs", mapping, organization_assign_default: false })
      for (const id of organizations) {
        const settings = `/organizations/${id}/settings/idpsync`
        await patch(server, `${settings}/groups`, { field: "groups", auto_create_missing_groups: true })
        await patch(server, `${settings}/roles`, { field: "roles" })
      }
      const [one = "", two = ""] = organizations
      const says = [
        { orgs: [one], groups: ["a"], roles: ["organization-auditor"] },
        { orgs: [two], groups: ["b"], roles: ["organization-admin"] }
      ]
      const logIn = async (claims: Exclude<DescribedIdentity["claims"], undefined>) => {
        const identity: DescribedIdentity = { linked_id: "at once", email: "at-once@example.com", claims }
        const browser = browserOf(server)
        const page = await logInAs(browser, identity)
        expect(page.status).toBe(307)
        return sessionOf(browser) ?? ""
      }
      await logIn({})
      const [token = ""] = await Promise.all([...says, ...says, ...says].map(logIn))
      const { id, organization_ids } = (await server.call("GET", "/users/me", { token })).as(Me)
      const [organization = ""] = organization_ids
      const names = (await groupsOf(server, id)).map(({ name }) => name)
      const left = { orgs: organization_ids, groups: names, roles: await rolesIn(server, organization, id) }
      expect(says).toContainEqual(left)
    } finally {
      await server.close()
    }
  })

  describe("that roles of the deployment follow from", () => {
    const options = {
      oidcUserRoleField: "site_roles",
      oidcUserRoleMapping: { helpdesk: ["user-admin", "member", "organization-admin"] },
      oidcUserRoleDefault: ["auditor", "nothing"]
    }

    once("replace the user's roles, and cannot be changed by hand", async () => {
      const server = await serve({ options })
      const person = aPerson(server)
      const { me } = await person.logIn({ site_roles: ["helpdesk", "template-admin", "nothing"] })
      const { id, roles } = await me()
      expect(roles.map(({ name }) => name)).toStrictEqual(["auditor", "template-admin", "user-admin"])
      expect((await person.logIn({ site_roles: "a,b" })).status).toBe(500)
      const put = (user: string) => server.call("PUT", `/users/${user}/roles`, { token: server.owner().token, body: { roles: [] } })
      expect((await put(id)).status).toBe(400)
      expect((await put((await server.aMember()).user.id)).status).toBe(200)
      const again = await person.logIn()
      expect((await again.me()).roles.map(({ name }) => name)).toStrictEqual(["auditor"])
      const writes = await server.run(auditEntries({ resource_type: "user", resource_id: id }))
      expect(
        writes.map(({ additional_fields, diff, status_code }) => [
          status_code,
          additional_fields["automatic_subsystem"],
          diff["rbac_roles"]?.new
        ])
      ).toContainEqual([expect.any(Number), "idp_sync", ["auditor"]])
    })

    it("leave the last owner its role, also with concurrent logins of owners", async () => {
      const server = await serve({ options, empty: true })
      const [first, second] = [aPerson(server), aPerson(server)]
      const rolesAfter = async ({ logIn }: typeof first, claims: Readonly<Record<string, unknown>> = {}) => {
        const { me, status } = await logIn(claims)
        expect(status).toBe(307)
        return (await me()).roles.map(({ name }) => name).toSorted()
      }
      // The first user of the deployment is its owner
      expect(await rolesAfter(first)).toStrictEqual(["auditor", "owner"])
      expect(await rolesAfter(first, { site_roles: ["template-admin"] })).toStrictEqual(["auditor", "owner", "template-admin"])
      expect(await rolesAfter(second, { site_roles: ["owner"] })).toStrictEqual(["auditor", "owner"])
      expect(await rolesAfter(first)).toStrictEqual(["auditor"])
      expect(await rolesAfter(second)).toStrictEqual(["auditor", "owner"])
      await rolesAfter(first, { site_roles: ["owner"] })
      const logIns = await Promise.all([first.logIn(), second.logIn()])
      const left = await Promise.all(logIns.map(async ({ me }) => (await me()).roles.map(({ name }) => name).toSorted()))
      expect(left.toSorted((one, other) => one.length - other.length)).toStrictEqual([["auditor"], ["auditor", "owner"]])
    })

    once("follow from nothing without a license", async () => {
      const server = await serve({ options: { ...options, oidcGroupField: "groups" }, entitlements: { has: () => false } })
      const organization = await anotherOrganization(server)
      const home = await defaultId(server)
      await patch(server, "/settings/idpsync/organization", { field: "orgs", mapping: { a: [organization] } })
      await patch(server, `/organizations/${home}/settings/idpsync/roles`, { field: "roles" })
      await patch(server, `/organizations/${home}/settings/idpsync/groups`, { field: "groups", auto_create_missing_groups: true })
      const { me } = await aPerson(server).logIn({ orgs: ["a"], roles: ["organization-admin"], groups: ["a"], site_roles: ["owner"] })
      const { id, organization_ids, roles } = await me()
      expect([organization_ids, roles, await rolesIn(server, home, id), await groupsOf(server, id)]).toStrictEqual([[home], [], [], []])
    })
  })

  once("store the claims for administrators of the settings", async () => {
    const server = await serve({ entitlements: { has: () => false } })
    const { token } = server.owner()
    const other = await anotherOrganization(server)
    await aPerson(server).logIn({ groups: ["dev", "ops", 7, ["x"]], orgs: "one", roles: { admin: true } })
    await aPerson(server).logIn({ groups: ["dev", "it's"], orgs: null, site_roles: true })
    const get = async (path: string, as = token) => server.call("GET", path, { token: as })
    const fields = await get("/settings/idpsync/available-fields")
    expect(fields.body).toStrictEqual(expect.arrayContaining(["email", "groups", "orgs", "roles", "sub"]))
    expect(new Set(fields.as(Schema.Array(Schema.String))).size).toBe(fields.as(Schema.Array(Schema.String)).length)
    const values = async (claim: string, path = "") =>
      (await get(`${path}/settings/idpsync/field-values?claimField=${encodeURIComponent(claim)}`)).body
    expect(await values("groups")).toStrictEqual(["dev", "it's", "ops"])
    expect([await values("orgs"), await values("roles"), await values("site_roles"), await values("nothing")]).toStrictEqual([
      ["one"],
      [],
      [],
      []
    ])
    expect([await values(`'"; $.x`), await values("groups", "/organizations/default")]).toStrictEqual([[], ["dev", "it's", "ops"]])
    expect([await values("groups", `/organizations/${other}`)]).toStrictEqual([[]])
    expect((await get(`/organizations/${other}/settings/idpsync/available-fields`)).body).toStrictEqual([])
    const missing = await get("/settings/idpsync/field-values")
    expect([missing.status, missing.body]).toMatchObject([400, { validations: [{ field: "claimField" }] }])
    const member = await server.aMember()
    expect((await get("/settings/idpsync/available-fields", member.token)).status).toBe(403)
    expect((await get("/organizations/default/settings/idpsync/field-values?claimField=groups", member.token)).status).toBe(403)
    expect((await get(`/organizations/${other}/settings/idpsync/available-fields`, member.token)).status).toBe(404)
  })

  once("need a group of the list, if there is one", async () => {
    const options = { oidcGroupField: "groups", oidcAllowedGroups: ["staff", "guests"] }
    const server = await serve({ options, entitlements: { has: () => false } })
    const person = aPerson(server)
    const refused = await person.logIn({ groups: ["others"] })
    expect([refused.status, refused.text.startsWith("<!doctype html>")]).toStrictEqual([403, true])
    expect((await person.logIn()).status).toBe(403)
    expect((await server.call("GET", `/users/${person.name}`, { token: server.owner().token })).status).toBe(404)
    const { me, status } = await person.logIn({ groups: ["others", "guests"] })
    expect(status).toBe(307)
    expect((await person.logIn({ groups: 7 })).status).toBe(400)
    expect((await person.logIn({ groups: ["others"] })).status).toBe(403)
    // A refused login is about no key
    const entries = await server.run(auditEntries({ user_id: (await me()).id }))
    expect(entries.map(({ action, status_code }) => [action, status_code])).toStrictEqual([
      ["register", 307],
      ["login", 400],
      ["login", 403]
    ])
  })

  once("are refused while there is a list of groups and no claim for them", async () => {
    const options = { oidcAllowedGroups: ["staff"] }
    await expect(serve({ options })).rejects.toThrow("options.oidcAllowedGroups: needs oidcGroupField")
  })
})
