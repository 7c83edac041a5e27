import { type AccessObject, decide, expandRoles, expandScopes, allScope, subjectOf, unrestrictedAllowList } from "@atelier/core/access"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Effect, Schema } from "effect"
import { expect, it } from "vitest"
import { gridRoles, gridRows } from "../../../core/test/access/roles/grid.js"
import { anOrganization } from "../../../../test/records/builders.js"
import { describeInterface, type Person } from "../../../../test/http/server.js"
import { storedTemplate, storedWorkspace } from "../../../../test/records/workspaces.js"

const Answers = Schema.Record({ key: Schema.String, value: Schema.Boolean })

describeInterface("POST /authcheck", (server) => {
  const ask = (person: Person, checks: Readonly<Record<string, unknown>>) =>
    server().call("POST", "/authcheck", { token: person.token, body: { checks } })
  const answers = async (person: Person, checks: Readonly<Record<string, unknown>>) => (await ask(person, checks)).as(Answers)
  const defaultId = async () =>
    (await server().run(Effect.flatMap(OrganizationRepository, (organizations) => Effect.flatten(organizations.default)))).id
  const random = () => crypto.randomUUID()

  it("answers each check under its key", async () => {
    const member = await server().aMember()
    const organization_id = await defaultId()
    const own = { resource_type: "workspace", owner_id: "me", organization_id }
    expect(
      await answers(member, {
        read: { object: own, action: "read" },
        create: { object: own, action: "create" },
        "somebody's": { object: { resource_type: "workspace", organization_id }, action: "read" },
        anywhere: { object: { resource_type: "workspace", owner_id: "me", any_org: true }, action: "create" },
        unknown: { object: { resource_type: "spaceship" }, action: "fly" }
      })
    ).toStrictEqual({ read: true, create: true, "somebody's": false, anywhere: true, unknown: false })
    expect((await ask(member, {})).body).toStrictEqual({})
    expect((await server().call("POST", "/authcheck", { token: member.token, body: {} })).body).toStrictEqual({})
    expect((await server().call("POST", "/authcheck", { body: {} })).status).toBe(401)
  })

  it("judges stored objects, and treats unreadable ones as missing", async () => {
    const owner = server().owner()
    const member = await server().aMember()
    const other = await server().aMember()
    const everyone = await defaultId()
    const of = (resource_type: string, resource_id: string, action = "read") => ({
      object: { resource_type, resource_id, owner_id: "me" },
      action
    })
    const checks = {
      self: of("user", member.user.id, "update_personal"),
      other: of("user", other.user.id, "read"),
      "other's data": of("user", other.user.id, "update_personal"),
      nobody: of("user", random(), "read"),
      group: of("group", everyone, "read"),
      "change of a group": of("group", everyone, "update"),
      template: of("template", random(), "update"),
      workspace: of("workspace", random(), "read")
    }
    const nothing = { nobody: false, template: false, workspace: false }
    expect(await answers(member, checks)).toStrictEqual({
      ...nothing,
      self: true,
      other: false,
      "other's data": false,
      group: true,
      "change of a group": false
    })
    expect(await answers(owner, checks)).toStrictEqual({
      ...nothing,
      self: true,
      other: true,
      "other's data": true,
      group: true,
      "change of a group": true
    })
  })

  it("answers no about a template that is deleted", async () => {
    const owner = server().owner()
    const organization_id = await defaultId()
    const [kept, deleted] = await Promise.all(
      [false, true].map((deleted) => server().run(storedTemplate({ organization_id, created_by: owner.user.id, deleted })))
    )
    const of = (id: string | undefined) => ({ object: { resource_type: "template", resource_id: id }, action: "update" })
    expect(await answers(owner, { kept: of(kept?.id), deleted: of(deleted?.id) })).toStrictEqual({ kept: true, deleted: false })
  })

  it("judges with the scope and the allow list of the credential in use", async () => {
    const owner = server().owner()
    const minted = await server().call("POST", "/users/me/keys/tokens", { token: owner.token, body: { scopes: ["workspace:read"] } })
    const { key } = minted.as(Schema.Struct({ key: Schema.String }))
    const checks = {
      workspace: { object: { resource_type: "workspace" }, action: "read" },
      template: { object: { resource_type: "template" }, action: "read" },
      user: { object: { resource_type: "user", resource_id: owner.user.id }, action: "read" }
    }
    expect(await answers({ ...owner, token: key }, checks)).toStrictEqual({ workspace: true, template: false, user: false })
  })

  it("allows reading a workspace of an allow list only with its template", async () => {
    const owner = await server().aMember()
    const organization_id = await defaultId()
    const [one, other, template] = await server().run(
      Effect.gen(function* () {
        const template = yield* storedTemplate({ organization_id, created_by: owner.user.id })
        const both = [yield* storedWorkspace(template, owner.user.id), yield* storedWorkspace(template, owner.user.id)] as const
        return [both[0].workspace.id, both[1].workspace.id, template.id] as const
      })
    )
    const limitedTo = async (...allow_list: ReadonlyArray<string>): Promise<Person> => {
      const body = { token_name: `t-${random()}`.slice(0, 32), allow_list }
      const minted = await server().call("POST", "/users/me/keys/tokens", { token: owner.token, body })
      return { ...owner, token: minted.as(Schema.Struct({ key: Schema.String })).key }
    }
    const statuses = ({ token }: Person) =>
      Promise.all([one, other].map(async (id) => (await server().call("GET", `/workspaces/${id}`, { token })).status))
    const update = (resource_id: string) => ({ object: { resource_type: "workspace", resource_id }, action: "update" })
    const alone = await limitedTo(`workspace:${one}`)
    expect(await statuses(await limitedTo(`workspace:${one}`, `template:${template}`))).toStrictEqual([200, 404])
    expect(await statuses(alone)).toStrictEqual([403, 404])
    expect(await answers(alone, { one: update(one), other: update(other) })).toStrictEqual({ one: true, other: false })
  })

  it("refuses malformed checks and more than ten fetches", async () => {
    const member = await server().aMember()
    const refusal = async (checks: Readonly<Record<string, unknown>>) => {
      const { body, status } = await ask(member, checks)
      return { status, body }
    }
    const check = (object: object) => ({ object, action: "read" })
    expect(await refusal({ nameless: check({ resource_type: "" }) })).toMatchObject({
      status: 400,
      body: { validations: [{ field: "resource_type", detail: expect.stringContaining("nameless") }] }
    })
    expect(await refusal({ file: check({ resource_type: "file", resource_id: random() }) })).toMatchObject({
      status: 400,
      body: { validations: [{ field: "resource_type" }] }
    })
    expect(await refusal({ user: check({ resource_type: "user", resource_id: "x" }) })).toMatchObject({
      status: 400,
      body: { validations: [{ field: "resource_id" }] }
    })
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [index, check({ resource_type: "user", resource_id: random() })]))
    const unfetched = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`plain ${index}`, check({ resource_type: "user" })]))
    const mixed = await refusal({ ...many(10), ...unfetched })
    expect([mixed.status, Object.keys(Schema.decodeUnknownSync(Answers)(mixed.body)).length]).toStrictEqual([200, 60])
    expect((await refusal(many(11))).status).toBe(400)
  })

  it("answers as the engine does for every caller", async () => {
    const here = await defaultId()
    const elsewhere = await server().run(
      Effect.gen(function* () {
        const organization = yield* anOrganization()
        yield* (yield* OrganizationRepository).insert(organization)
        return organization.id
      })
    )
    const implied = (name: string, isOrganization: boolean) => [
      ...expandRoles(["member", ...(isOrganization ? [] : [name])]).map((role) => ({ role, organizationId: undefined })),
      ...expandRoles(["organization-member", "organization-workspace-access", ...(isOrganization ? [name] : [])], {
        organizationId: here,
        shareMode: "everyone"
      }).map((role) => ({ role, organizationId: here }))
    ]
    let sampled = 0
    for (const { organizationId, role } of gridRoles(here).filter(({ title }) => !title.includes(" where "))) {
      const isOrganization = organizationId !== undefined
      const person = await server().aMember(isOrganization ? {} : { rbac_roles: [role.name] }, isOrganization ? [role.name] : [])
      const rows = gridRows({ self: person.user.id, other: random(), here, elsewhere })
      const subject = subjectOf({
        kind: "user",
        id: person.user.id,
        roles: implied(role.name, isOrganization),
        groups: [],
        scope: expandScopes([allScope]),
        allowList: unrestrictedAllowList,
        options: {}
      })
      const expected = rows.map((row) => ({ ...row, allowed: decide(subject, row.action, row.object) }))
      const spread = [true, false].flatMap((allowed) => {
        const alike = expected.filter((row) => row.allowed === allowed)
        return Array.from({ length: 5 }, (_, index) => alike[Math.floor((index * alike.length) / 5)]).filter((row) => row !== undefined)
      })
      const wire = ({ org, owner, type }: AccessObject) => ({ resource_type: type, owner_id: owner, organization_id: org })
      const answered = await answers(
        person,
        Object.fromEntries(spread.map(({ action, object }, index) => [index, { action, object: wire(object) }]))
      )
      expect(answered).toStrictEqual(Object.fromEntries(spread.map(({ allowed }, index) => [index, allowed])))
      sampled += spread.length
    }
    expect(sampled).toBeGreaterThanOrEqual(100)
  })
})
