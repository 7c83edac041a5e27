import { SqlClient } from "@effect/sql"
import { CurrentActor, sessionActor } from "@atelier/core/access"
import { Workspaces as WorkspacesService } from "@atelier/core/workspaces"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { testEngines } from "../../../../../test/outside/engine.js"
import { aResource, anAgent } from "../../../../../test/records/resources.js"
import { type Answer, describeServerOnEach, type Person, type TestServer } from "../../../../../test/http/server.js"
import { statementsOf } from "../../../../../test/store/statements.js"
import { anImportedVersion, aTemplate } from "../../../../../test/http/templates.js"
import { aBuild, aName, aQueuedWorkspace, aWorkspace, requestBuild } from "../../../../../test/http/workspaceCalls.js"
import { Workspaces } from "../../../src/contract/workspaces/workspaces.js"
import { Response } from "../../../src/wire/errors.js"

const refusal = (answer: Answer) => [answer.status, answer.as(Response).validations?.map(({ field }) => field)]

const list = (server: TestServer, { token }: Pick<Person, "token">, query: Readonly<Record<string, string>> = {}) =>
  server.call("GET", `/workspaces?${new URLSearchParams(query)}`, { token })

/** The names in a list, in its order. */
const names = async (server: TestServer, person: Pick<Person, "token">, q = ""): Promise<ReadonlyArray<string>> =>
  (await list(server, person, { q })).as(Workspaces).workspaces.map(({ name }) => name)

const execute = (server: TestServer, statement: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) =>
  server.run(Effect.flatMap(Effect.flatten(Effect.serviceOption(SqlClient.SqlClient)), statement))

describeServerOnEach(
  "the list of workspaces",
  (server, once) => {
    const owner = () => server().owner()

    describe("of one deployment", () => {
      let me: Person
      let last: Person

      beforeAll(async () => {
        const template = await aTemplate(server(), { resources: [aResource()] })
        me = await server().aMember({ username: "middle" })
        last = await server().aMember({ username: "zzz" })
        for (const name of ["e", "d"]) await aWorkspace(server(), template, last, { name })
        for (const name of ["b", "c", "f", "a"]) await aWorkspace(server(), template, me, { name })
        const { workspaces } = (await list(server(), me)).as(Workspaces)
        for (const workspace of workspaces.filter(({ name }) => name === "b" || name === "f")) {
          await aBuild(server(), workspace, me, { transition: "stop" })
        }
        await execute(server(), (sql) => sql`UPDATE workspaces SET favorite = TRUE WHERE name = 'f'`)
      })

      once("begins with the caller's favorites, then running ones, by owner and name", async () => {
        expect(await names(server(), me)).toStrictEqual(["f", "a", "c", "b"])
        expect(await names(server(), owner())).toStrictEqual(["a", "c", "d", "e", "b", "f"])
        const [favorite] = (await list(server(), me)).as(Workspaces).workspaces
        expect(favorite?.favorite).toBe(true)
        expect((await list(server(), owner(), { q: "name:f" })).as(Workspaces).workspaces[0]?.favorite).toBe(false)
      })

      it("shows readable workspaces, with their number on every page", async () => {
        expect(await names(server(), last)).toStrictEqual(["d", "e"])
        const page = async (query: Readonly<Record<string, string>>) => {
          const { count, workspaces } = (await list(server(), owner(), query)).as(Workspaces)
          return [count, ...workspaces.map(({ name }) => name)]
        }
        expect(await page({ limit: "2" })).toStrictEqual([6, "a", "c"])
        expect(await page({ limit: "2", offset: "4" })).toStrictEqual([6, "b", "f"])
        expect(await page({ offset: "6" })).toStrictEqual([6])
        expect(refusal(await list(server(), owner(), { limit: "-1" }))).toStrictEqual([400, ["limit"]])
        expect(refusal(await list(server(), owner(), { offset: "2147483648" }))).toStrictEqual([400, ["offset"]])
      })

      it("is filtered by owner, name, status, template, organization and id", async () => {
        const of = (q: string) => names(server(), owner(), q)
        expect(await of("owner:MIDDLE")).toStrictEqual(["a", "c", "b", "f"])
        expect(await names(server(), me, "owner:me")).toHaveLength(4)
        expect(await of("owner:nobody")).toStrictEqual([])
        expect(await of("zzz/d")).toStrictEqual(["d"])
        expect(await of("zzz/")).toStrictEqual([])
        expect(await of("A")).toStrictEqual(["a"])
        expect(await of('"a/b"')).toStrictEqual([])
        expect(await of("status:stopped")).toStrictEqual(["b", "f"])
        expect(await of("status:deleted")).toStrictEqual([])
        expect(await of("template:nothing")).toStrictEqual([])
        expect(await of("organization:default name:d")).toStrictEqual(["d"])
        expect(await of("organization:7b5e8a5e-65b0-4d4e-9d9c-8a2a8a6a5f4e")).toStrictEqual([])
        const [d] = (await list(server(), owner(), { q: "name:d" })).as(Workspaces).workspaces
        expect(await of(`id:${d?.id} template:${d?.template_name} organization:${d?.organization_id}`)).toStrictEqual(["d"])
      })

      once("refuses unknown and unreadable references, naming the filter", async () => {
        const of = async (q: string) => refusal(await list(server(), owner(), { q }))
        expect(await of("name:a name:b")).toStrictEqual([400, ["name"]])
        expect(await of("a/b/c")).toStrictEqual([400, ["q"]])
        expect(await of("foo:bar status:asleep")).toStrictEqual([400, ["foo", "status"]])
        expect(await of("organization:nowhere")).toStrictEqual([400, ["organization"]])
        expect(await of("shared_with_user:nobody")).toStrictEqual([400, ["shared_with_user"]])
        expect(await of("shared_with_group:nobody")).toStrictEqual([400, ["shared_with_group"]])
        expect(await of("shared_with_group:a/b/c")).toStrictEqual([400, ["shared_with_group"]])
        expect(await of(`shared_with_group:${me.user.id}`)).toStrictEqual([400, ["shared_with_group"]])
        expect(await of("shared_with_group:nowhere/everyone")).toStrictEqual([400, ["shared_with_group"]])
      })

      once("shows shared workspaces with users and roles, without dormant ones", async () => {
        const acl = { [last.user.id]: ["application_connect", "read", "ssh", "start", "stop"] }
        const share = (user: object, dormant: string | null) =>
          execute(
            server(),
            (sql) => sql`UPDATE workspaces SET user_acl = ${JSON.stringify(user)}, dormant_at = ${dormant} WHERE name = 'c'`
          )
        await share(acl, null)
        expect(await names(server(), last)).toStrictEqual(["c", "d", "e"])
        expect(await names(server(), owner(), "shared:true")).toStrictEqual(["c"])
        expect(await names(server(), last, "shared_with_user:me")).toStrictEqual(["c"])
        expect(await names(server(), owner(), "shared_with_group:everyone")).toStrictEqual([])
        const [shared] = (await list(server(), last, { q: "name:c" })).as(Workspaces).workspaces
        expect(shared?.shared_with).toStrictEqual([{ actor_type: "user", id: last.user.id, name: last.user.name, roles: ["use"] }])
        await share(acl, "2026-01-01T00:00:00.000Z")
        expect(await names(server(), last)).toStrictEqual(["d", "e"])
        expect(await names(server(), owner(), "dormant:true")).toStrictEqual(["c"])
        await share({}, null)
      })

      once("is filtered by the state of agents, which stopped workspaces do not have", async () => {
        const of = (q: string) => names(server(), owner(), q)
        expect(await of("has-agent:connecting")).toStrictEqual(["a", "c", "d", "e"])
        expect(await of("has-agent:connected,gone")).toStrictEqual([])
        expect(await of("healthy:false")).toStrictEqual([])
        const [a, c, d] = (await list(server(), owner()))
          .as(Workspaces)
          .workspaces.flatMap(({ latest_build }) => latest_build.resources.flatMap(({ agents }) => agents.map(({ id }) => id)))
        const now = new Date().toISOString()
        const set = (id: string | undefined, fields: Readonly<Record<string, string>>) =>
          execute(server(), (sql) => sql`UPDATE workspace_agents SET ${sql.update(fields)} WHERE id = ${id ?? ""}`)
        await set(a, { first_connected_at: now, last_connected_at: now })
        await set(c, { first_connected_at: now, last_connected_at: "2026-01-01T00:00:00.000Z" })
        await set(d, { created_at: "2026-01-01T00:00:00.000Z" })
        expect(await of("has-agent:connected")).toStrictEqual(["a"])
        expect(await of("healthy:true")).toStrictEqual(["a"])
        expect(await of("has-agent:disconnected")).toStrictEqual(["c"])
        expect(await of("has-agent:timeout")).toStrictEqual(["d"])
        expect(await of("healthy:false")).toStrictEqual(["c", "d"])
        expect(await of("has-agent:connecting")).toStrictEqual(["e"])
        const shown = (await list(server(), owner(), { q: "name:c" })).as(Workspaces).workspaces[0]
        expect(shown?.health).toStrictEqual({ healthy: false, failing_agents: [c] })
      })
    })

    once("is filtered by parameters, and by whether the template has moved on", async () => {
      const person = await server().aMember()
      const template = await aTemplate(server(), { parameters: [{ name: "Region", default_value: "EU", mutable: true }] })
      const us = await aWorkspace(server(), template, person, { rich_parameter_values: [{ name: "Region", value: "US" }] })
      const eu = await aWorkspace(server(), template, person)
      const of = async (q: string) => (await names(server(), person, q)).toSorted()
      expect(await of("param:region")).toStrictEqual([us.name, eu.name].toSorted())
      expect(await of("param:region=us")).toStrictEqual([us.name])
      expect(await of("param:region=us param:region=eu")).toHaveLength(2)
      expect(await of("param:region param:region=asia")).toStrictEqual([])
      expect(await of("outdated:true")).toStrictEqual([])
      const { id } = await anImportedVersion(server(), {}, { template_id: template.id })
      await server().call("PATCH", `/templates/${template.id}/versions`, { token: owner().token, body: { id } })
      await aBuild(server(), us, person, { transition: "start", template_version_id: id })
      expect(await of("outdated:true")).toStrictEqual([eu.name])
      expect(await of("outdated:false")).toStrictEqual([us.name])
      expect(await of('last_used_before:"2026-01-01T00:00:00Z"')).toStrictEqual([])
      expect(await of('last_used_after:"2026-01-01T00:00:00Z" has-ai-task:false has_external_agent:false')).toHaveLength(2)
    })

    once("counts but omits workspaces with unreadable templates", async () => {
      const person = await server().aMember()
      const template = await aTemplate(server())
      const hidden = await aWorkspace(server(), template, person)
      const shown = await aWorkspace(server(), await aTemplate(server()), person)
      await execute(server(), (sql) => sql`UPDATE templates SET group_acl = '{}' WHERE id = ${template.id}`)
      const { count, workspaces } = (await list(server(), person)).as(Workspaces)
      expect([count, workspaces.map(({ id }) => id)]).toStrictEqual([2, [shown.id]])
      expect((await server().call("GET", `/workspaces/${hidden.id}`, { token: person.token })).status).toBe(403)
      expect((await server().call("GET", `/users/me/workspace/${hidden.name}`, { token: person.token })).status).toBe(404)
    })

    it("takes as many statements for twenty-five as for one, and at most ten", async () => {
      const person = await server().aMember()
      const agent = anAgent({ name: "second", order: 1 })
      const template = await aTemplate(server(), { resources: [aResource({ agents: [anAgent(), agent] })] })
      const actor = sessionActor({ userId: owner().user.id, siteRoles: ["owner"], memberships: [] })
      const statements = async (limit: number): Promise<readonly [number, number]> => {
        const { statements, value } = await server().run(
          statementsOf(
            Effect.flatMap(WorkspacesService, (workspaces) => workspaces.list(`owner:${person.user.username}`, { limit, offset: 1 }))
          ).pipe(Effect.provideService(CurrentActor, actor))
        )
        return [value.workspaces.length, statements.length]
      }
      const make = () => aWorkspace(server(), template, person, { name: aName() })
      for (let index = 0; index < 2; index++) await make()
      // One of them waits, and one is shared: both need something more
      const waiting = await make()
      await execute(
        server(),
        (sql) => sql`UPDATE provisioner_jobs SET tags = ${JSON.stringify({ scope: "organization", owner: "", planet: "mars" })}
          WHERE id = (SELECT job_id FROM template_versions WHERE id = ${template.active_version_id})`
      )
      expect((await requestBuild(server(), waiting, person, { transition: "stop" })).status).toBe(201)
      const [one, few] = await statements(2)
      expect(one).toBe(2)
      for (let index = 0; index < 24; index++) await aQueuedWorkspace(server(), template, person)
      const [many, all] = await statements(25)
      expect([many, all]).toStrictEqual([25, few])
      expect(all).toBeLessThanOrEqual(10)
    })
  },
  { provisioner: testEngines }
)
