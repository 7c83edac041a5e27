/** A list holds exactly what its caller could read one by one: on random data, for random callers with random credentials. */
import { SqlClient } from "@effect/sql"
import { Access, AccessObjects, type AccessObject, organizationRoles, siteRoles } from "@atelier/core/access"
import { Groups } from "@atelier/core/groups"
import { ApiKeys, Sessions, type User, UserRepository, Users } from "@atelier/core/identity"
import { Members, type Organization, OrganizationRepository, Organizations } from "@atelier/core/organizations"
import { NotFound, Timestamp } from "@atelier/core/platform"
import { type Template, Templates } from "@atelier/core/templates"
import { type Workspace, Workspaces } from "@atelier/core/workspaces"
import { Chunk, Effect, Redacted, Schema, Stream } from "effect"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { anOrganization, aUser } from "../../../../test/records/builders.js"
import { describeServerOnEach } from "../../../../test/http/server.js"
import { storedTemplate, storedWorkspace } from "../../../../test/records/workspaces.js"

/** Makes the same data each time, but for ids. */
const seed = 20_261_122

const userCount = 10
const groupsOfOrganization = 2
const templatesOfOrganization = 3
const workspaceCount = 14

/** Random choices, one after the other. */
const choices = () => {
  let next = seed
  const sample = <A>(arbitrary: fc.Arbitrary<A>): A => {
    for (const value of fc.sample(arbitrary, { seed: next++, numRuns: 1 })) return value
    throw new Error("nothing was sampled")
  }
  return {
    one: <A>(of: ReadonlyArray<A>): A => sample(fc.constantFrom(...of)),
    some: <A>(of: ReadonlyArray<A>, most = of.length): ReadonlyArray<A> =>
      sample(fc.subarray([...of], { maxLength: Math.min(most, of.length) })),
    flag: (): boolean => sample(fc.boolean())
  }
}

const acl = (ids: ReadonlyArray<string>, actions: ReadonlyArray<string>) => Object.fromEntries(ids.map((id) => [id, actions]))

/** Organizations, users, groups, templates and workspaces, related at random. */
const aWorld = Effect.gen(function* () {
  const { flag, one, some } = choices()
  const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
  const organizations = yield* OrganizationRepository
  const users = yield* UserRepository
  const created_at = yield* Timestamp.now

  const all: Array<Organization> = [yield* Effect.flatten(organizations.default)]
  for (const mode of ["none", "service_accounts"] as const) {
    all.push(yield* Effect.tap(anOrganization({ shareable_workspace_owners: mode }), organizations.insert))
  }
  const people: Array<User> = []
  const members = new Map<string, Array<string>>(all.map(({ id }) => [id, []]))
  for (let index = 0; index < userCount; index++) {
    const rbac_roles = flag()
      ? some(
          siteRoles.map(({ name }) => name).filter((name) => name !== "member"),
          1
        )
      : []
    const user = yield* aUser({ rbac_roles, is_service_account: index === 3 })
    yield* users.insert(user, null)
    people.push(user)
    for (const { id: organization_id } of some(all)) {
      const roles = flag()
        ? []
        : some(
            organizationRoles.map(({ name }) => name),
            2
          )
      yield* organizations.addMember({ organization_id, user_id: user.id, roles, created_at })
      members.get(organization_id)?.push(user.id)
    }
  }
  const groups = new Map<string, Array<string>>()
  const places: Array<{ readonly group: string; readonly organization: string; readonly user: string }> = []
  for (const { id: organization_id } of all) {
    const ids: Array<string> = []
    for (let index = 0; index < groupsOfOrganization; index++) {
      const id = crypto.randomUUID()
      const row = { id, organization_id, name: `group-${index}`, display_name: "", avatar_url: "", quota_allowance: 0, source: "user" }
      yield* sql`INSERT INTO groups ${sql.insert(row)}`
      for (const user_id of some(members.get(organization_id) ?? [])) {
        yield* sql`INSERT INTO group_members ${sql.insert({ group_id: id, user_id })}`
        places.push({ group: id, organization: organization_id, user: user_id })
      }
      ids.push(id)
    }
    groups.set(organization_id, ids)
  }
  const grantees = (organizationId: string, actions: ReadonlyArray<string>) => ({
    user_acl: acl(
      some(
        people.map(({ id }) => id),
        3
      ),
      actions
    ),
    group_acl: acl([...(flag() ? [organizationId] : []), ...some(groups.get(organizationId) ?? [])], actions)
  })
  const templates: Array<Template> = []
  for (const { id: organization_id } of all) {
    for (let index = 0; index < templatesOfOrganization; index++) {
      const actions = one([["read", "use"], ["*"], ["use"]])
      templates.push(yield* storedTemplate({ organization_id, created_by: one(people).id, ...grantees(organization_id, actions) }))
    }
  }
  const workspaces: Array<{ readonly workspace: Workspace; readonly template: Template }> = []
  for (let index = 0; index < workspaceCount; index++) {
    const template = one(templates)
    const { workspace } = yield* storedWorkspace(template, one(people).id, {
      workspace: {
        ...grantees(template.organization_id, one([["read", "ssh"], ["*"], ["ssh"]])),
        dormant_at: index % 7 === 6 ? created_at : null
      }
    })
    workspaces.push({ workspace, template })
  }
  const memberships = [...members].flatMap(([organization, of]) => of.map((user) => ({ id: `${organization}/${user}` })))
  const placeIn = (groupId: string, organization_id: string, user_id: string) => ({
    id: `${groupId}/${user_id}`,
    organization_id,
    user_id
  })
  const everywhere = [...members].flatMap(([organization, of]) => of.map((user) => placeIn(organization, organization, user)))
  return {
    organizations: all,
    memberships,
    /** Who is in which group, all members in Everyone. */
    places: [...places.map(({ group, organization, user }) => placeIn(group, organization, user)), ...everywhere],
    people,
    groups: [...groups.values()].flat().concat(all.map(({ id }) => id)),
    templates,
    workspaces
  }
})

const credentials = [
  {},
  { scopes: ["user:read", "workspace:read", "template:read"] },
  { scopes: ["coder:all"], allow_list: ["user:*", "organization:*"] },
  { scopes: ["organization:read", "api_key:read"] }
]

describeServerOnEach(
  "a list",
  (server) => {
    it("holds exactly the objects that its caller can read one by one", async () => {
      const { groups, memberships, organizations, people, places, templates, workspaces } = await server().run(aWorld)
      const { owner } = server()
      const wrong: Array<unknown> = []
      let found = 0
      for (const [index, user] of people.entries()) {
        const session = (await server().call("POST", `/users/${user.id}/keys`, { token: owner().token })).as(
          Schema.Struct({ key: Schema.String })
        )
        const body = credentials[index % credentials.length]
        const { key } = (await server().call("POST", "/users/me/keys/tokens", { token: session.key, body })).as(
          Schema.Struct({ key: Schema.String })
        )
        for (const token of new Set([session.key, key])) {
          const compared = await server().run(
            Effect.gen(function* () {
              const actor = yield* (yield* Sessions).authenticate(Redacted.make(token), {})
              return yield* Access.actingAs(actor)(
                Effect.all({
                  users: agree(
                    people,
                    Effect.map(
                      Effect.flatMap(Users, ({ list }) => list("", { limit: 0, offset: 0 })),
                      (page) => page.users
                    ),
                    (id) => Effect.flatMap(Users, ({ get }) => get(id))
                  ),
                  organizations: agree(
                    organizations,
                    Effect.flatMap(Organizations, ({ list }) => list()),
                    (id) => Effect.flatMap(Organizations, ({ get }) => get(id))
                  ),
                  groups: agree(
                    groups.map((id) => ({ id })),
                    Effect.flatMap(Groups, ({ list }) => Effect.flatMap(list({ organization: "", has_member: "", group_ids: [] }), all)),
                    (id) => Effect.flatMap(Groups, ({ find }) => find(id))
                  ),
                  templates: agree(
                    templates,
                    Effect.flatMap(Templates, ({ list }) => list("")),
                    (id) => readableOne(templates, id, AccessObjects.template)
                  ),
                  workspaces: agree(
                    workspaces.map(({ workspace }) => workspace),
                    Effect.map(
                      Effect.flatMap(Workspaces, ({ list }) => list("", { limit: 0, offset: 0 })),
                      (page) => page.workspaces
                    ),
                    (id) =>
                      Effect.gen(function* () {
                        const found = workspaces.find(({ workspace }) => workspace.id === id)
                        if (found === undefined) return yield* Effect.fail(new NotFound())
                        // Dormant ones are listed as if they were not. authorization.md §1.5
                        yield* Access.readable(AccessObjects.workspace({ ...found.workspace, dormant_at: null }))
                        yield* Access.readable(AccessObjects.template(found.template))
                      })
                  ),
                  members: agree(
                    memberships,
                    Effect.flatMap(Members, ({ list }) =>
                      Effect.map(
                        Effect.forEach(organizations, ({ id }) =>
                          Effect.catchTag(Effect.flatMap(list(id, ""), all), "NotFound", () => Effect.succeed([]))
                        ),
                        (lists) => lists.flat().map(({ organization_id, user_id }) => ({ id: `${organization_id}/${user_id}` }))
                      )
                    ),
                    (id) => Effect.flatMap(Members, ({ get }) => get(id.slice(0, 36), id.slice(37)))
                  ),
                  rosters: agree(
                    places,
                    Effect.map(
                      Effect.flatMap(Groups, ({ list }) => Effect.flatMap(list({ organization: "", has_member: "", group_ids: [] }), all)),
                      (shown) => shown.flatMap(({ id, members }) => members.map((member) => ({ id: `${id}/${member.id}` })))
                    ),
                    (id) => {
                      const place = places.find((each) => each.id === id)
                      const readsPlace =
                        place === undefined
                          ? Effect.fail(new NotFound())
                          : Access.readable({ type: "group_member", id: place.user_id, owner: place.user_id, org: place.organization_id })
                      return Effect.zipRight(
                        Effect.flatMap(Groups, ({ find }) => find(id.slice(0, 36))),
                        readsPlace
                      )
                    }
                  ),
                  tokens: Effect.gen(function* () {
                    const listed = yield* (yield* ApiKeys)
                      .tokens("me", { include_all: true, include_expired: true })
                      .pipe(Effect.catchTag("NotFound", () => Effect.succeed([])))
                    const seesAll = user.rbac_roles.includes("owner")
                    const foreign = seesAll ? [] : listed.filter((item) => item.token.user_id !== user.id)
                    return { violations: foreign.map((item) => item.token.id), read: listed.length }
                  })
                })
              )
            })
          )
          for (const [list, { violations, read }] of Object.entries(compared)) {
            found += read
            if (violations.length > 0) wrong.push({ list, violations, roles: user.rbac_roles, body: token === key ? body : "session" })
          }
        }
      }
      expect(wrong).toStrictEqual([])
      expect(found).toBeGreaterThan(100)
    })
  },
  { entitlements: { has: () => true } }
)

const all = <A>(items: Stream.Stream<A>) => Effect.map(Stream.runCollect(items), Chunk.toReadonlyArray)

const readableOne = <A extends { readonly id: string }>(all: ReadonlyArray<A>, id: string, objectOf: (row: A) => AccessObject) => {
  const found = all.find((row) => row.id === id)
  return found === undefined ? Effect.fail(new NotFound()) : Access.readable(objectOf(found))
}

/** The things that are listed and cannot be read, or can be read and are not listed. */
const agree = <E, R, E2, R2>(
  all: ReadonlyArray<{ readonly id: string }>,
  list: Effect.Effect<ReadonlyArray<{ readonly id: string }>, E, R>,
  read: (id: string) => Effect.Effect<unknown, E2, R2>
) =>
  Effect.gen(function* () {
    const listed = new Set((yield* list).map(({ id }) => id))
    const readable = yield* Effect.filter(all, ({ id }) => Effect.isSuccess(read(id)))
    const missing = readable.filter(({ id }) => !listed.has(id)).map(({ id }) => `${id} is missing`)
    const surplus = all.filter(({ id }) => listed.has(id) && !readable.some((row) => row.id === id)).map(({ id }) => `${id} is listed`)
    return { violations: [...missing, ...surplus], read: readable.length }
  })
