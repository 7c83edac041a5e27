import { OrganizationRepository } from "@atelier/core/organizations"
import { Uuid } from "@atelier/core/platform"
import { Effect, Schema } from "effect"
import { expect, it } from "vitest"
import { auditEntries } from "../../../../../test/http/audit.js"
import { anOrganization } from "../../../../../test/records/builders.js"
import { describeInterface, describeServerOnEach, type TestServer } from "../../../../../test/http/server.js"

const ids = [1, 2, 3].map((digit) => `00000000-0000-4000-8000-00000000000${digit}`)
const [one, two, three] = ids

const ofDeployment = "/settings/idpsync/organization"
const groups = (organization = "default") => `/organizations/${organization}/settings/idpsync/groups`
const roles = (organization = "default") => `/organizations/${organization}/settings/idpsync/roles`

const get = (server: TestServer, path: string, token = server.owner().token) => server.call("GET", path, { token })
const patch = (server: TestServer, path: string, body: unknown, token = server.owner().token) => server.call("PATCH", path, { token, body })

const Refusal = Schema.Struct({ validations: Schema.Array(Schema.Struct({ field: Schema.String })) })

const unset = { field: "", mapping: {}, organization_assign_default: true }
const noGroups = { field: "", mapping: {}, regex_filter: null, auto_create_missing_groups: false }

const fixedId = Uuid.Uuid.make("51a51c00-0000-0000-0000-000000000000")

describeServerOnEach("settings of identity providers", (server, once) => {
  once("are the deployment's until somebody writes them", async () => {
    const other = await server().run(
      Effect.gen(function* () {
        const organization = yield* anOrganization()
        yield* (yield* OrganizationRepository).insert(organization)
        return organization
      })
    )
    expect(await get(server(), ofDeployment)).toMatchObject({ status: 200, body: unset })
    expect((await get(server(), groups())).body).toStrictEqual(noGroups)
    expect((await get(server(), groups(other.id))).body).toStrictEqual(noGroups)
    expect((await get(server(), roles(other.name))).body).toStrictEqual({ field: "", mapping: {} })
    // Each organization has settings of its own
    expect((await patch(server(), roles(other.id), { field: "other" })).body).toStrictEqual({ field: "other", mapping: {} })
    expect((await get(server(), roles())).body).toMatchObject({ field: "" })
  })

  once("of memberships are replaced, configured and mapped, and audited", async () => {
    const owner = server().owner()
    const full = { field: "orgs", mapping: { dev: [one] }, organization_assign_default: false }
    expect(await patch(server(), ofDeployment, full)).toMatchObject({ status: 200, body: full })
    const configured = await patch(server(), `${ofDeployment}/config`, { field: "teams", assign_default: true })
    expect(configured.body).toStrictEqual({ field: "teams", mapping: { dev: [one] }, organization_assign_default: true })
    const mapped = await patch(server(), `${ofDeployment}/mapping`, {
      Add: [
        { Given: "dev", Gets: two },
        { Given: "ops", Gets: three },
        { Given: "both", Gets: one }
      ],
      remove: [
        { given: "dev", gets: one },
        { given: "both", gets: one }
      ]
    })
    const mapping = { dev: [two], ops: [three], both: [] }
    expect(mapped.body).toStrictEqual({ field: "teams", mapping, organization_assign_default: true })
    expect((await get(server(), ofDeployment)).body).toStrictEqual(mapped.body)
    expect((await patch(server(), ofDeployment, {})).body).toStrictEqual({ ...unset, organization_assign_default: false })
    const entries = await server().run(auditEntries({ resource_type: "idp_sync_settings_organization" }))
    expect(entries).toMatchObject([
      {
        action: "write",
        user_id: owner.user.id,
        resource_id: fixedId,
        organization_id: Uuid.nil,
        status_code: 200,
        diff: {
          field: { old: "", new: "orgs" },
          mapping: { old: {}, new: { dev: [one] } },
          assign_default: { old: true, new: false }
        }
      },
      { diff: { field: { old: "orgs", new: "teams" }, assign_default: { old: false, new: true } } },
      { diff: { mapping: { old: { dev: [one] }, new: mapping } } },
      { diff: { field: {}, mapping: {}, assign_default: {} } }
    ])
  })

  once("of groups are replaced, configured and mapped", async () => {
    const full = { field: "groups", mapping: { dev: [one] }, regex_filter: "^dev-", auto_create_missing_groups: true }
    expect((await patch(server(), groups(), full)).body).toStrictEqual(full)
    expect((await patch(server(), `${groups()}/config`, { field: "g", regex_filter: null })).body).toStrictEqual({
      field: "g",
      mapping: { dev: [one] },
      regex_filter: null,
      auto_create_missing_groups: false
    })
    expect((await patch(server(), `${groups()}/mapping`, { Add: [{ Given: "ops", Gets: two }] })).body).toMatchObject({
      mapping: { dev: [one], ops: [two] }
    })
    const organization = await server().run(
      Effect.flatMap(OrganizationRepository, (organizations) => Effect.flatten(organizations.default))
    )
    expect(await server().run(auditEntries({ resource_type: "idp_sync_settings_group" }))).toMatchObject([
      { organization_id: organization.id, resource_id: fixedId, diff: { regex_filter: { new: "^dev-" } } },
      { diff: { regex_filter: { old: "^dev-" }, auto_create_missing_groups: { old: true, new: false } } },
      { diff: { mapping: { new: { dev: [one], ops: [two] } } } }
    ])
  })

  once("of roles are replaced, configured and mapped", async () => {
    expect((await patch(server(), roles(), { field: "roles", mapping: { lead: ["organization-admin"] } })).body).toStrictEqual({
      field: "roles",
      mapping: { lead: ["organization-admin"] }
    })
    expect((await patch(server(), `${roles()}/config`, { field: "r" })).body).toMatchObject({
      field: "r",
      mapping: { lead: ["organization-admin"] }
    })
    const change = { Add: [{ Given: "ops", Gets: "x" }], Remove: [{ Given: "lead", Gets: "organization-admin" }] }
    expect((await patch(server(), `${roles()}/mapping`, change)).body).toStrictEqual({
      field: "r",
      mapping: { lead: [], ops: ["x"] }
    })
    expect((await server().run(auditEntries({ resource_type: "idp_sync_settings_role" }))).at(-1)).toMatchObject({ status_code: 200 })
  })

  it("keep every one of concurrent changes", async () => {
    await patch(server(), ofDeployment, unset)
    const changes = Array.from({ length: 8 }, (_, index) => ({ Add: [{ Given: `team-${index}`, Gets: one }] }))
    const answers = await Promise.all(changes.map((change) => patch(server(), `${ofDeployment}/mapping`, change)))
    expect(answers.map(({ status }) => status)).toStrictEqual(changes.map(() => 200))
    const { body } = await get(server(), ofDeployment)
    expect(body).toMatchObject({ mapping: Object.fromEntries(changes.map((_, index) => [`team-${index}`, [one]])) })
  })

  once("are for those who may read and change them", async () => {
    const member = await server().aMember()
    const userAdmin = await server().aMember({ rbac_roles: ["user-admin"] })
    const paths = [ofDeployment, groups(), roles()]
    for (const path of paths) {
      expect((await server().call("GET", path)).status).toBe(401)
      expect((await get(server(), path, member.token)).status).toBe(403)
      expect((await patch(server(), `${path}/config`, { field: "x" }, member.token)).status).toBe(403)
      expect((await get(server(), path, userAdmin.token)).status).toBe(200)
      expect((await patch(server(), `${path}/mapping`, {}, userAdmin.token)).status).toBe(200)
    }
    const ofOrganization = await server().aMember({}, ["organization-user-admin"])
    for (const path of [groups(), roles()]) {
      expect((await get(server(), path, ofOrganization.token)).status).toBe(200)
      expect((await patch(server(), `${path}/config`, { field: "" }, ofOrganization.token)).status).toBe(200)
    }
    expect((await get(server(), ofDeployment, ofOrganization.token)).status).toBe(403)
    const refused = await server().run(auditEntries({ user_id: member.user.id }))
    const attempts = refused.filter(({ action }) => action === "write")
    expect(attempts.map(({ diff, resource_type, status_code }) => [resource_type, status_code, diff])).toStrictEqual([
      ["idp_sync_settings_organization", 403, {}],
      ["idp_sync_settings_group", 403, {}],
      ["idp_sync_settings_role", 403, {}]
    ])
    const other = await server().run(
      Effect.gen(function* () {
        const organization = yield* anOrganization()
        yield* (yield* OrganizationRepository).insert(organization)
        return organization
      })
    )
    for (const path of [groups(other.id), roles(other.id), groups("nowhere"), `${roles(Uuid.nil)}/../x`]) {
      expect((await get(server(), path, member.token)).status).toBe(404)
    }
  })

  once("are refused where they cannot be", async () => {
    const fieldOf = async (path: string, body: unknown) => {
      const answer = await patch(server(), path, body)
      return [answer.status, answer.as(Refusal).validations[0]?.field]
    }
    expect(await fieldOf(groups(), { legacy_group_name_mapping: { a: "b" } })).toStrictEqual([400, "legacy_group_name_mapping"])
    expect(await fieldOf(groups(), { regex_filter: "(" })).toStrictEqual([400, "regex_filter"])
    expect(await fieldOf(`${groups()}/config`, { regex_filter: "a{2000}" })).toStrictEqual([400, "regex_filter"])
    expect(await fieldOf(ofDeployment, { field: "x".repeat(1025) })).toStrictEqual([400, "field"])
    expect(await fieldOf(roles(), { mapping: { a: Array.from({ length: 1_001 }, String) } })).toStrictEqual([400, "mapping.a"])
    expect(await fieldOf(`${roles()}/mapping`, { Add: [{ Given: "__proto__", Gets: "x" }] })).toStrictEqual([400, "mapping"])
    expect((await patch(server(), ofDeployment, { mapping: { a: ["no id"] } })).status).toBe(400)
    expect((await patch(server(), `${groups()}/mapping`, { Add: [{ Given: "a", Gets: "x" }] })).status).toBe(400)
    expect((await patch(server(), roles(), { mapping: { a: "b" } })).status).toBe(400)
    expect((await patch(server(), roles(), { mapping: { "a\0": ["b"] } })).status).toBe(400)
    expect((await patch(server(), roles(), "{")).status).toBe(400)
  })
})

describeInterface(
  "settings of identity providers that the deployment brings",
  (server) => {
    it("are shown, and apply until others are stored", async () => {
      expect((await get(server(), ofDeployment)).body).toStrictEqual({
        field: "orgs",
        mapping: { dev: [one] },
        organization_assign_default: false
      })
      const initial = {
        field: "groups",
        mapping: {},
        regex_filter: "^x",
        auto_create_missing_groups: true,
        legacy_group_name_mapping: { a: "b" }
      }
      expect((await get(server(), groups())).body).toStrictEqual(initial)
      expect((await patch(server(), `${groups()}/mapping`, { Add: [{ Given: "c", Gets: one }] })).body).toStrictEqual({
        ...initial,
        mapping: { c: [one] }
      })
      const { legacy_group_name_mapping: _, ...replaced } = initial
      expect((await patch(server(), groups(), replaced)).body).toStrictEqual(replaced)
    })
  },
  {
    options: {
      oidcOrganizationField: "orgs",
      oidcOrganizationMapping: { dev: [Uuid.Uuid.make("00000000-0000-4000-8000-000000000001")] },
      oidcOrganizationAssignDefault: false,
      oidcGroupField: "groups",
      oidcGroupMapping: { a: "b" },
      oidcGroupRegexFilter: "^x",
      oidcGroupAutoCreate: true
    }
  }
)
