import {
  AppReports,
  AgentRepository,
  AgentSessions,
  assembleAgents,
  BuildResourceRepository,
  BuildResources,
  inManifestOrder
} from "@atelier/core/agents"
import { Access } from "@atelier/core/access"
import { Uuid } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import { databases } from "../../../../../test/store/databases.js"
import { aDevcontainer, anAgent, anApp, aResource } from "../../../../../test/records/resources.js"
import { aBuild, aWorkspace } from "../../../../../test/records/agentWorkspaces.js"
import { placesOf } from "../../../../../test/store/schema.js"
import { statementsOf } from "../../../../../test/store/statements.js"
import { agentServices } from "../services.js"
import { Statements } from "../../../src/platform/Statements.js"

const uuid = (): Uuid.Uuid => Uuid.Uuid.make(globalThis.crypto.randomUUID())

for (const [name, database] of databases) {
  layer(agentServices(database))(`build resources on ${name}`, (it) => {
    it.effect("come back complete and in the order in which they are shown", () =>
      Effect.gen(function* () {
        const resources = yield* BuildResources
        const scripts = ["first", "second"].map((display_name) => ({
          display_name,
          icon: "",
          script: "true",
          cron: "",
          start_blocks_login: display_name === "second",
          run_on_start: true,
          run_on_stop: false,
          timeout_seconds: 5,
          log_path: ""
        }))
        const { build } = yield* aBuild(yield* aWorkspace(), {
          resources: [
            aResource({ name: "empty", agents: [], metadata: [{ key: "secret", value: "x", sensitive: true }] }),
            aResource({ name: "late", agents: [anAgent({ name: "z", order: 2 })] }),
            aResource({
              name: "early",
              agents: [
                anAgent({ name: "b", order: 1 }),
                anAgent({
                  name: "a",
                  order: 1,
                  environment_variables: { KEY: "value" },
                  scripts,
                  apps: [
                    anApp({ slug: "second", display_name: "B" }),
                    anApp({ slug: "first", display_name: "A", healthcheck: { url: "http://localhost", interval: 3, threshold: 2 } })
                  ]
                })
              ]
            })
          ]
        })
        const stored = (yield* resources.ofJobs([build.job_id])).get(build.job_id) ?? []
        expect(stored.map((resource) => resource.name)).toStrictEqual(["early", "late", "empty"])
        expect(stored[2]?.metadata).toStrictEqual([{ key: "secret", value: "x", sensitive: true }])
        const [a, b] = stored[0]?.agents ?? []
        expect([a?.name, b?.name]).toStrictEqual(["a", "b"])
        expect(b?.environment_variables).toBeNull()
        expect(a).toMatchObject({
          environment_variables: { KEY: "value" },
          lifecycle_state: "created",
          logs_length: 0,
          logs_overflowed: false
        })
        expect(a?.apps.map((app) => [app.slug, app.health, app.healthcheck_interval])).toStrictEqual([
          ["first", "initializing", 3],
          ["second", "disabled", 0]
        ])
        expect(a?.scripts.map((script) => [script.display_name, script.start_blocks_login, script.exit_code])).toStrictEqual([
          ["first", false, null],
          ["second", true, null]
        ])
        expect(a?.log_sources.map((source) => source.display_name)).toStrictEqual(["first", "second"])
        expect(a?.scripts.map((script) => script.log_source_id)).toStrictEqual(a?.log_sources.map((source) => source.id))
      })
    )

    it.effect("are read with one statement, for one job as for many", () =>
      Effect.gen(function* () {
        const resources = yield* BuildResources
        const stored = yield* aWorkspace()
        const builds = yield* Effect.replicateEffect(
          aBuild(stored, { resources: [aResource({ agents: [anAgent({ apps: [anApp()] })] })] }),
          5
        )
        const jobs = builds.map(({ build }) => build.job_id)
        const [first, ...others] = jobs
        expect(first).toBeDefined()
        expect((yield* statementsOf(resources.ofJobs(jobs.slice(0, 1)))).statements).toHaveLength(1)
        expect((yield* statementsOf(resources.ofJobs(jobs))).statements).toHaveLength(1)
        expect((yield* statementsOf(resources.ofJobs([]))).statements).toHaveLength(0)
        expect([...(yield* resources.ofJobs(others)).keys()].toSorted()).toStrictEqual(others.toSorted())
      })
    )

    it.effect("make the manifest of each agent, by one statement", () =>
      Effect.gen(function* () {
        const { manifestOf } = yield* BuildResourceRepository
        const container = aDevcontainer({ name: "site", workspace_folder: "/site" })
        const collected = { key: "load", display_name: "Load", script: "uptime", interval: 10, timeout: 1 }
        const { agents } = yield* aBuild(yield* aWorkspace(), {
          resources: [
            aResource({
              agents: [
                anAgent({ name: "bare" }),
                anAgent({
                  name: "full",
                  directory: "/home",
                  motd_file: "/etc/motd",
                  environment_variables: { KEY: "value" },
                  apps: [anApp({ slug: "second", order: 2 }), anApp({ slug: "first", order: 1 })],
                  metadata: [
                    { ...collected, key: "b", order: 1 },
                    { ...collected, key: "c", order: 0 },
                    { ...collected, key: "a", order: 1 }
                  ],
                  devcontainers: [container]
                })
              ]
            })
          ]
        })
        const idOf = (name: string): Uuid.Uuid => agents.find((agent) => agent.name === name)?.id ?? Uuid.nil
        const { statements, value } = yield* statementsOf(manifestOf(idOf("full")))
        expect(statements).toHaveLength(1)
        const full = inManifestOrder(Option.getOrThrow(value))
        expect(full.agent).toStrictEqual({
          id: idOf("full"),
          parent_id: null,
          name: "full",
          directory: "/home",
          motd_file: "/etc/motd",
          environment_variables: { KEY: "value" }
        })
        expect(full.apps.map(({ slug }) => slug)).toStrictEqual(["first", "second"])
        expect(full.scripts.map(({ display_name }) => display_name)).toStrictEqual(["Dev Container (site)"])
        expect(full.metadata.map(({ interval, key, script }) => [key, script, interval])).toStrictEqual([
          ["c", "uptime", 10],
          ["a", "uptime", 10],
          ["b", "uptime", 10]
        ])
        expect(full.devcontainers).toMatchObject([{ name: "site", workspace_folder: "/site", subagent_id: null }])
        // Those that are asked for at the same time do not get each other's
        const both = yield* Effect.forEach(["bare", "full"], (name) => manifestOf(idOf(name)), { concurrency: 2 })
        expect(both.map((parts) => Option.map(parts, ({ agent, apps }) => [agent.name, apps.length]))).toStrictEqual([
          Option.some(["bare", 0]),
          Option.some(["full", 2])
        ])
        expect(yield* manifestOf(uuid())).toStrictEqual(Option.none())
      })
    )

    it.effect("are the same objects until they change", () =>
      Effect.gen(function* () {
        const resources = yield* BuildResources
        const sql = yield* Statements
        const agents = ["a", "b"].map((name) => anAgent({ name, apps: [anApp({ slug: `app-${name}` })] }))
        const { build } = yield* aBuild(yield* aWorkspace(), { resources: [aResource({ agents }), aResource({ name: "z", agents: [] })] })
        const read = Effect.map(resources.ofJobs([build.job_id]), (jobs) => jobs.get(build.job_id) ?? [])
        const [first, other] = yield* read
        expect((yield* read).map((resource, index) => resource === [first, other][index])).toStrictEqual([true, true])
        const changed = first?.agents[0]?.apps[0]?.id ?? ""
        yield* sql`UPDATE workspace_apps SET health = 'unhealthy' WHERE id = ${changed}`
        const [next, same] = yield* read
        expect(next?.agents.map(({ apps }) => apps.map(({ health }) => health))).toStrictEqual([["unhealthy"], ["disabled"]])
        expect([next === first, next?.agents[0] === first?.agents[0], next?.agents[1] === first?.agents[1], same === other]).toStrictEqual([
          false,
          false,
          true,
          true
        ])
        yield* sql`DELETE FROM workspace_apps WHERE id = ${changed}`
        expect((yield* read)[0]?.agents.map(({ apps }) => apps.length)).toStrictEqual([0, 1])
      })
    )

    it.effect("of a stop have no agents", () =>
      Effect.gen(function* () {
        const resources = yield* BuildResources
        const { agents, build } = yield* aBuild(yield* aWorkspace(), { transition: "stop" })
        expect(agents).toStrictEqual([])
        const stored = (yield* resources.ofJobs([build.job_id])).get(build.job_id) ?? []
        expect(stored.map((resource) => [resource.name, resource.transition, resource.agents])).toStrictEqual([["dev", "stop", []]])
      })
    )

    it.effect("are stored with the hash of the token the engine answers, or of a new one", () =>
      Effect.gen(function* () {
        const given = uuid()
        const { agents: stored } = yield* aBuild(yield* aWorkspace(), {
          resources: [
            aResource({
              agents: [
                anAgent({ name: "given", auth: { _tag: "Token", token: given } }),
                anAgent({ name: "cloud", auth: { _tag: "InstanceIdentity", instance_id: "i-1" } })
              ]
            })
          ]
        })
        const actor = yield* (yield* AgentSessions).authenticate(Redacted.make(given.toUpperCase()), {})
        expect(actor.agentId).toBe(stored.find((agent) => agent.name === "given")?.id)
        expect(yield* placesOf(given)).toStrictEqual([])
        const cloud = stored.find((agent) => agent.name === "cloud")
        const [row] = assembleAgents(yield* (yield* BuildResourceRepository).ofAgent(cloud?.id ?? Uuid.nil))
        expect(row?.auth_instance_id).toBe("i-1")
        const sql = yield* Statements
        const hashes = yield* sql<{ hashed_token: Uint8Array }>`SELECT hashed_token FROM workspace_agents WHERE id = ${row?.id ?? ""}`
        expect(hashes.map(({ hashed_token }) => hashed_token.length)).toStrictEqual([32])
      })
    )

    it.effect("keep an app and its statuses over the builds of a workspace", () =>
      Effect.gen(function* () {
        const resources = yield* BuildResources
        const stored = yield* aWorkspace()
        const id = uuid()
        const token = uuid()
        const withApp = (display_name: string, auth: Uuid.Uuid) => ({
          resources: [aResource({ agents: [anAgent({ auth: { _tag: "Token", token: auth }, apps: [anApp({ id, display_name })] })] })]
        })
        yield* aBuild(stored, withApp("old", token))
        yield* reportStatus(token, "working")
        const { agents, build } = yield* aBuild(stored, withApp("new", uuid()))
        const [resource] = (yield* resources.ofJobs([build.job_id])).get(build.job_id) ?? []
        const [app] = resource?.agents[0]?.apps ?? []
        expect(app).toMatchObject({ id, display_name: "new", agent_id: agents[0]?.id })
        expect(app?.statuses.map(({ state }) => state)).toStrictEqual(["working"])
      })
    )

    it.effect("refuse an app that belongs to another workspace, and store nothing", () =>
      Effect.gen(function* () {
        const resources = yield* BuildResources
        const id = uuid()
        const withApp = { resources: [aResource({ agents: [anAgent({ apps: [anApp({ id })] })] })] }
        yield* aBuild(yield* aWorkspace(), withApp)
        const { build } = yield* aBuild(yield* aWorkspace(), { resources: [] })
        const error = yield* Effect.flip(resources.insert({ job_id: build.job_id, transition: "start" }, withApp.resources))
        expect(error).toMatchObject({ _tag: "Invalid", message: `The app id ${id} belongs to another workspace` })
        expect(yield* resources.ofJobs([build.job_id])).toStrictEqual(new Map())
      })
    )

    it.effect("lose the agents of earlier builds with a new build", () =>
      Effect.gen(function* () {
        const resources = yield* BuildResources
        const agents = yield* AgentRepository
        const stored = yield* aWorkspace()
        const [old, current] = [yield* aBuild(stored), yield* aBuild(stored)]
        const ids = [old, current].map((build) => build.agents[0]?.id ?? Uuid.nil)
        const known = Effect.forEach(ids, (id) => Effect.map(agents.byId(id), Option.isSome))
        yield* resources.retireAgents({ workspaceId: stored.workspace.id, exceptBuildJob: current.build.job_id })
        expect(yield* known).toStrictEqual([false, true])
        const [resource] = (yield* resources.ofJobs([old.build.job_id])).get(old.build.job_id) ?? []
        expect(resource?.agents).toStrictEqual([])
        yield* resources.retireAllAgents(stored.workspace.id)
        expect(yield* known).toStrictEqual([false, false])
      })
    )
  })
}

/** Reports an app's status as the agent with the token. */
const reportStatus = (token: Uuid.Uuid, state: "working" | "idle") =>
  Effect.gen(function* () {
    const sessions = yield* AgentSessions
    const reports = yield* AppReports
    const actor = yield* sessions.authenticate(Redacted.make(token), {})
    yield* Effect.gen(function* () {
      yield* reports.of(yield* sessions.current).status({ app_slug: "code", state, message: "", uri: "" })
    }).pipe(Access.actingAs(actor))
  })
