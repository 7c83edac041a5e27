import { SqlClient } from "@effect/sql"
import type { UserId } from "@atelier/core/identity"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { type Template, TemplateVersionRepository } from "@atelier/core/templates"
import { ParameterAutofillRepository, type Workspace, type WorkspaceBuild } from "@atelier/core/workspaces"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { aParameter } from "../../../../../test/outside/engine.js"
import { describeServerOnEach, type Person } from "../../../../../test/http/server.js"
import { planOf, statementsOf } from "../../../../../test/store/statements.js"
import { storedBuild, storedTemplate, storedVersion, storedWorkspace } from "../../../../../test/records/workspaces.js"

describeServerOnEach("the values that forms are filled in with", (server, once) => {
  const sqlClient = Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))

  const get = (user: string, template: Pick<Template, "id">, { token }: Person = server().owner()) =>
    server().call("GET", `/users/${user}/autofill-parameters?template_id=${template.id}`, { token })

  /** A template whose active version has these parameters; those that end in `?` are ephemeral. */
  const aTemplate = (...names: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const organization = yield* Effect.flatten(Effect.flatMap(OrganizationRepository, (organizations) => organizations.default))
      const template = yield* storedTemplate({ organization_id: organization.id, created_by: server().owner().user.id })
      yield* define(template.active_version_id, names)
      return template
    })

  const define = (version: Uuid.Uuid, names: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const parameters = names.map((name) => aParameter({ name: name.replace("?", ""), ephemeral: name.endsWith("?") }))
      const updated_at = yield* Timestamp.now
      const versions = yield* TemplateVersionRepository
      yield* versions.storePlanned(version, {
        parameters,
        presets: [],
        has_ai_task: false,
        has_external_agent: false,
        engine: null,
        updated_at
      })
    })

  let builds = 1
  /** A build that is newer than all before it, with these values. */
  const aBuild = (
    workspace: Workspace,
    fields: Partial<WorkspaceBuild> & Pick<WorkspaceBuild, "template_version_id">,
    values: Readonly<Record<string, string>>
  ) =>
    Effect.gen(function* () {
      const created_at = Timestamp.fromMillis(Date.UTC(2030, 0, 1) + ++builds * 1000)
      const build = yield* storedBuild(workspace, { created_at, build_number: builds, ...fields })
      const sql = yield* sqlClient
      for (const [name, value] of Object.entries(values)) {
        yield* sql`INSERT INTO workspace_build_parameters ${sql.insert({ workspace_build_id: build.id, name, value })}`
      }
    })

  const aWorkspace = (template: Template, ownerId: UserId, deleted = false) =>
    Effect.map(storedWorkspace(template, ownerId, { workspace: { deleted } }), ({ workspace }) => workspace)

  once("are those of the newest starts of the user's workspaces", async () => {
    const [person, other] = [await server().aMember(), await server().aMember()]
    const template = await server().run(
      Effect.gen(function* () {
        const template = yield* aTemplate("region", "size", "disk", "reset?")
        const version = template.active_version_id
        const mine = yield* aWorkspace(template, person.user.id)
        const gone = yield* aWorkspace(template, person.user.id, true)
        yield* aBuild(mine, { template_version_id: version }, { region: "old", size: "s", disk: "10" })
        yield* aBuild(gone, { template_version_id: version }, { region: "eu", size: "m", reset: "yes", unknown: "x" })
        yield* aBuild(mine, { template_version_id: version, transition: "stop" }, { region: "stopped" })
        yield* aBuild(yield* aWorkspace(template, other.user.id), { template_version_id: version }, { region: "theirs" })
        const elsewhere = yield* aTemplate("region")
        yield* aBuild(
          yield* aWorkspace(elsewhere, person.user.id),
          { template_version_id: elsewhere.active_version_id },
          { region: "elsewhere" }
        )
        return template
      })
    )
    expect(await get("me", template, person)).toMatchObject({
      status: 200,
      body: [
        { name: "region", value: "eu" },
        { name: "size", value: "m" },
        { name: "disk", value: "10" }
      ]
    })
  })

  once("were ephemeral or not in the version that was started", async () => {
    const person = await server().aMember()
    const template = await server().run(
      Effect.gen(function* () {
        const template = yield* aTemplate("region", "token?")
        const { created_by, id, organization_id } = template
        const next = yield* storedVersion({ organization_id, created_by, template_id: id })
        yield* define(next.id, ["region?", "token"])
        const workspace = yield* aWorkspace(template, person.user.id)
        yield* aBuild(workspace, { template_version_id: template.active_version_id }, { region: "eu", token: "once" })
        yield* aBuild(workspace, { template_version_id: next.id }, { region: "us", token: "kept" })
        return template
      })
    )
    expect((await get("me", template, person)).body).toStrictEqual([
      { name: "token", value: "kept" },
      { name: "region", value: "eu" }
    ])
  })

  once("are at most 100, by name within one build, and empty without a start", async () => {
    const person = await server().aMember()
    const names = Array.from({ length: 101 }, (_, index) => `p${String(index).padStart(3, "0")}`)
    const [template, unused] = await server().run(
      Effect.gen(function* () {
        const template = yield* aTemplate(...names)
        const workspace = yield* aWorkspace(template, person.user.id)
        const values = Object.fromEntries(names.toReversed().map((name) => [name, "x"]))
        yield* aBuild(workspace, { template_version_id: template.active_version_id }, values)
        return [template, yield* aTemplate("region")] as const
      })
    )
    expect((await get("me", template, person)).body).toStrictEqual(names.slice(0, 100).map((name) => ({ name, value: "x" })))
    expect(await get("me", unused, person)).toMatchObject({ status: 200, body: [] })
    expect(await get("me", { id: Uuid.nil }, person)).toMatchObject({ status: 200, body: [] })
  })

  once("take the template as their only parameter", async () => {
    const { token } = await server().aMember()
    const ask = (query: string) => server().call("GET", `/users/me/autofill-parameters${query}`, { token })
    const fields = async (query: string) => {
      const { body, status } = await ask(query)
      return [status, body]
    }
    expect(await fields("")).toMatchObject([400, { validations: [{ field: "template_id" }] }])
    expect(await fields("?template_id=docker")).toMatchObject([400, { validations: [{ field: "template_id" }] }])
    expect(await fields(`?template_id=${Uuid.nil}&limit=1`)).toMatchObject([400, { validations: [{ field: "limit" }] }])
  })

  once("are personal: those who may only see a user find none", async () => {
    const [person, other, auditor] = [
      await server().aMember(),
      await server().aMember(),
      await server().aMember({ rbac_roles: ["auditor"] })
    ]
    const template = { id: Uuid.nil }
    for (const caller of [other, auditor]) expect((await get(person.user.id, template, caller)).status).toBe(404)
    expect(await get(person.user.id, template)).toMatchObject({ status: 200, body: [] })
    expect((await server().call("GET", `/users/me/autofill-parameters?template_id=${Uuid.nil}`)).status).toBe(401)
  })

  it("are found by one statement that reads no whole table", async () => {
    const plans = await server().run(
      Effect.gen(function* () {
        const { latestValues } = yield* ParameterAutofillRepository
        const { statements } = yield* statementsOf(latestValues(server().owner().user.id, Uuid.nil))
        const sql = yield* sqlClient
        return yield* Effect.forEach(statements, (statement) => Effect.provideService(planOf(statement), SqlClient.SqlClient, sql))
      })
    )
    expect(plans).toHaveLength(1)
    expect(plans[0]).toContain("workspace_builds_starts")
    expect(plans[0]).not.toMatch(/\bSCAN (?!\(?subquery|latest|recent|r\b)|Seq Scan/)
  })
})
