/**
 * Histories of three real servers on one PostgreSQL, whose connections are cut at random moments: what callers hear has to be what one server would have
 * answered, one call after the other.
 */
import { prebuildsUserId } from "@atelier/core/access"
import { BuildResources } from "@atelier/core/agents"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Ids, Locks, Timestamp, Uuid } from "@atelier/core/platform"
import { TemplateVersionRepository } from "@atelier/core/templates"
import { Postgres } from "@atelier/storage-postgres"
import { SqlClient } from "@effect/sql"
import { Effect, Exit, Option, Schema } from "effect"
import pg from "pg"
import { afterAll, beforeAll, expect, it } from "vitest"
import { aClient, aCode, type Client, redeem, refresh, someTokens, Tokens } from "../../http/test/oauth2/OAuthClient.js"
import { lastingDatabaseUrl } from "../../../test/store/databases.js"
import { type Answer, type Person, startServer, type TestServer } from "../../../test/http/server.js"
import { aResource } from "../../../test/records/resources.js"
import { storedTemplate, storedWorkspace } from "../../../test/records/workspaces.js"
import { chanceOf, type Model, type Operation, unplaced } from "../src/index.js"

/** Decides which call is made where, and when a connection is cut. How fast each is answered is left to chance. `REPLICAS_SEED` makes these choices again. */
const seed = Number(process.env["REPLICAS_SEED"] ?? Date.now() % 1_000_000)
const chance = chanceOf(seed)

let databaseUrl: string
let servers: ReadonlyArray<TestServer> = []
let first: TestServer
let owner: Person
let client: Client

beforeAll(async () => {
  databaseUrl = await lastingDatabaseUrl()
  // No daemon takes a build: it waits until it is canceled
  const start = (empty: boolean) =>
    startServer(Postgres.layer({ url: databaseUrl, maxConnections: 3 }), {
      empty,
      entitlements: { has: () => true },
      options: { provisionerDaemons: 0 }
    })
  first = await start(false)
  servers = [first, await start(true), await start(true)]
  owner = first.owner()
  client = await aClient(first)
})
afterAll(async () => {
  for (const server of servers) await server.close()
})

/** A connection that was cut: it ended between these times. */
interface Cut {
  readonly begin: number
  readonly end: number
}

/** Connections of the servers, as conditions of SQL. */
const allButEvents = "query NOT LIKE 'LISTEN%'"
const ofLocks = "application_name = 'atelier locks'"

/** Cuts connections to the database at random moments, until it is told to end. Returns what it has cut then. */
const cutting = async (which = allButEvents): Promise<() => Promise<ReadonlyArray<Cut>>> => {
  const administrator = new pg.Client({ connectionString: databaseUrl })
  await administrator.connect()
  const cuts: Array<Cut> = []
  const state = { isOver: false }
  const isThere = async (pid: unknown) =>
    ((await administrator.query("SELECT 1 FROM pg_stat_activity WHERE pid = $1", [pid])).rowCount ?? 0) > 0
  const cut = async (): Promise<void> => {
    while (!state.isOver) {
      const begin = performance.now()
      const { rows } = await administrator.query<{ readonly pid: number }>(
        `SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${which} ORDER BY random() LIMIT 1`
      )
      // The database's process goes on until it comes to look
      for (const { pid } of rows) {
        while (await isThere(pid));
        cuts.push({ begin, end: performance.now() })
      }
      await new Promise((resolve) => setTimeout(resolve, 5 + chance.next() * 40))
    }
    await administrator.end()
  }
  const ended = cut()
  return async () => {
    state.isOver = true
    await ended
    return cuts
  }
}

/** Callers that make calls without pause, each at servers by chance; and what they heard. */
const historyOf = async <I, O>(callers: number, calls: number, call: (server: TestServer) => readonly [I, Promise<O | undefined>]) => {
  const history: Array<Operation<I, O>> = []
  const run = async (): Promise<void> => {
    for (let count = 0; count < calls; count++) {
      const server = servers[chance.below(servers.length)] ?? first
      const begin = performance.now()
      const [input, answer] = call(server)
      const output = await answer
      history.push({ input, output, begin, end: performance.now() })
    }
  }
  await Promise.all(Array.from({ length: callers }, run))
  return history
}

/** The answer, or undefined where the server could not say what became of the call. */
const known = async <A>(answer: Promise<Answer>, read: (answer: Answer) => A): Promise<A | undefined> => {
  const given = await answer.catch(() => undefined)
  return given === undefined || given.status >= 500 ? undefined : read(given)
}

const shown = (histories: ReadonlyArray<unknown>): string =>
  [`REPLICAS_SEED=${seed}`, ...histories.map((one) => JSON.stringify(one))].join("\n")

/** How many operations had an answer. */
const answeredOf = (history: ReadonlyArray<Operation<unknown, unknown>>) => history.filter(({ output }) => output !== undefined).length

const Build = Schema.Struct({ id: Schema.String, build_number: Schema.Number })

/** A workspace has at most one build that has not ended. A build that is made gets the next number. */
type BuildCall = { readonly is: "create" } | { readonly is: "cancel"; readonly number: number }
const builds: Model<{ readonly number: number; readonly isActive: boolean }, BuildCall, number | "refused"> = {
  initial: { number: 1, isActive: false },
  next: (state, call, output) => {
    const isPossible = call.is === "create" ? !state.isActive : state.isActive && state.number === call.number
    const after = call.is === "create" ? { number: state.number + 1, isActive: true } : { ...state, isActive: false }
    if (output === undefined) return isPossible ? [after] : []
    if (output === "refused") return isPossible ? [] : [state]
    return isPossible && output === after.number ? [after] : []
  }
}

it("builds of a workspace are linearizable", async () => {
  const workspace = await first.run(
    Effect.gen(function* () {
      const organization = yield* Effect.flatMap(OrganizationRepository, ({ default: found }) => Effect.map(found, Option.getOrThrow))
      const template = yield* storedTemplate({ organization_id: organization.id, created_by: owner.user.id })
      return (yield* storedWorkspace(template, owner.user.id)).workspace
    })
  )
  const made: Array<typeof Build.Type> = []
  const stop = await cutting()
  const history = await historyOf<BuildCall, number | "refused">(4, 10, (server) => {
    const target = made.at(-1)
    if (target === undefined || chance.is(0.5)) {
      const answer = server.call("POST", `/workspaces/${workspace.id}/builds`, { token: owner.token, body: { transition: "start" } })
      const number = known(answer, (given) => {
        if (given.status !== 201) return "refused"
        const build = given.as(Build)
        made.push(build)
        return build.build_number
      })
      return [{ is: "create" }, number]
    }
    const answer = server.call("PATCH", `/workspacebuilds/${target.id}/cancel`, { token: owner.token })
    return [{ is: "cancel", number: target.build_number }, known(answer, ({ status }) => (status < 300 ? target.build_number : "refused"))]
  })
  await stop()
  expect(answeredOf(history)).toBeGreaterThan(5)
  expect(unplaced(builds, history), shown(history)).toBeUndefined()
}, 60_000)

/** A code is good for one answer with tokens. */
const code: Model<"unspent" | "spent", undefined, boolean> = {
  initial: "unspent",
  next: (state, _, output) => (output === undefined || output === (state === "unspent") ? ["spent"] : [])
}

it("one-time codes are linearizable", async () => {
  const codes = []
  for (let count = 0; count < 6; count++) codes.push(await aCode(first, client, owner))
  const stop = await cutting()
  for (const one of codes) {
    const history = await historyOf<undefined, boolean>(4, 1, (server) => [
      undefined,
      known(redeem(server, client, one), ({ status }) => status === 200)
    ])
    expect(unplaced(code, history), shown(history)).toBeUndefined()
  }
  await stop()
}, 60_000)

/** A refresh token is good until it is replaced. An answer that was lost leaves a token that no caller has. */
const rotation = (initial: string): Model<string, string, { readonly token: string | undefined }> => ({
  initial,
  next: (current, given, output) => {
    if (output === undefined) return given === current ? ["lost"] : [current]
    if (output.token === undefined) return given === current ? [] : [current]
    return given === current ? [output.token] : []
  }
})

it("the rotation of tokens is linearizable", async () => {
  for (let count = 0; count < 3; count++) {
    const { refresh_token } = await someTokens(first, client, owner)
    let latest = refresh_token
    const stop = count === 0 ? async () => {} : await cutting()
    const history = await historyOf<string, { readonly token: string | undefined }>(3, 5, (server) => {
      const given = latest
      const answer = known(refresh(server, client, given), (answered) => {
        if (answered.status !== 200) return { token: undefined }
        latest = answered.as(Tokens).refresh_token
        return { token: latest }
      })
      return [given, answer]
    })
    await stop()
    expect(unplaced(rotation(refresh_token), history), shown(history)).toBeUndefined()
  }
}, 60_000)

/** A lock is held by one at a time. It is free again when its holder has lost the connection. */
type LockCall = { readonly is: "take" | "release"; readonly holder: number }
const lock: Model<number, LockCall, boolean> = {
  initial: 0,
  next: (holder, call, output) => {
    if (call.is === "release") return holder === call.holder ? [0] : []
    if (output === false) return holder === 0 ? [] : [holder]
    return holder === 0 ? [call.holder] : []
  }
}

/** Takes a lock many times on each server, and keeps it for some milliseconds each time. */
const lockHistory = async (cutsOf: () => Promise<() => Promise<ReadonlyArray<Cut>>>) => {
  const history: Array<Operation<LockCall, boolean>> = []
  const holds: Array<{
    readonly holder: number
    readonly taking: number
    readonly taken: number
    readonly releasing: number
    readonly end: number
  }> = []
  let holders = 0
  const take = async (server: TestServer): Promise<void> => {
    const holder = ++holders
    const taking = performance.now()
    let taken: number | undefined
    let releasing = taking
    const exit = await server.run(
      Effect.flatMap(Locks, (locks) =>
        locks.tryWith(
          "linearizable",
          Effect.gen(function* () {
            taken = performance.now()
            history.push({ input: { is: "take", holder }, output: true, begin: taking, end: taken })
            yield* Effect.sleep(`${chance.below(8)} millis`)
            releasing = performance.now()
          })
        )
      ).pipe(Effect.exit)
    )
    const end = performance.now()
    if (taken !== undefined && Exit.isSuccess(exit)) return void holds.push({ holder, taking, taken, releasing, end })
    if (Exit.isSuccess(exit)) return void history.push({ input: { is: "take", holder }, output: false, begin: taking, end })
    // Its connection was lost
    if (taken === undefined) history.push({ input: { is: "take", holder }, output: undefined, begin: taking, end })
    history.push({ input: { is: "release", holder }, output: undefined, begin: taken ?? taking, end })
  }
  const stop = await cutsOf()
  await Promise.all(
    servers.map(async (server) => {
      for (let count = 0; count < 25; count++) await take(server)
    })
  )
  const cuts = await stop()
  for (const { end, holder, releasing, taken, taking } of holds) {
    // It may have been the one that was cut, before its holder heard of it
    const mayBeLost = cuts.some((cut) => cut.begin < end && cut.end > taking)
    history.push({ input: { is: "release", holder }, output: mayBeLost ? undefined : true, begin: mayBeLost ? taken : releasing, end })
  }
  return history
}

it.each([
  ["without cuts", async () => async () => []],
  ["while connections are cut", () => cutting(ofLocks)]
] as const)(
  "locks are linearizable %s",
  async (_, cuts) => {
    const history = await lockHistory(cuts)
    expect(history.filter(({ input, output }) => input.is === "take" && output === true).length).toBeGreaterThan(1)
    expect(unplaced(lock, history), shown(history)).toBeUndefined()
  },
  60_000
)

/** A claim by the name of its workspace, or a look at what waits. A name is taken once, and so is each workspace of a pool. A pool that is busy may be left out. */
type ClaimCall = { readonly is: "claim"; readonly name: string } | { readonly is: "look" }
interface Pool {
  readonly waiting: ReadonlyArray<string>
  readonly names: ReadonlyArray<string>
}
const pool = (waiting: ReadonlyArray<string>): Model<Pool, ClaimCall, string | "taken"> => {
  const waitingOf = (state: Pool): string => state.waiting.join(" ")
  return {
    initial: { waiting: waiting.toSorted(), names: [] },
    next: (state, call, output) => {
      if (call.is === "look") return output === undefined || output === waitingOf(state) ? [state] : []
      if (state.names.includes(call.name)) return output === undefined || output === "taken" ? [state] : []
      if (output === "taken") return []
      const names = [...state.names, call.name].toSorted()
      const without = (id: string): Pool => ({ names, waiting: state.waiting.filter((other) => other !== id) })
      // Its own workspace is not one of those that waited
      if (output !== undefined) return waiting.includes(output) && !state.waiting.includes(output) ? [] : [without(output)]
      return [{ ...state, names }, ...state.waiting.map(without)]
    }
  }
}

/** Workspaces that wait for users, of a template with a preset. */
const aPool = (size: number) =>
  first.run(
    Effect.gen(function* () {
      const organization = yield* Effect.flatMap(OrganizationRepository, ({ default: found }) => Effect.map(found, Option.getOrThrow))
      const template = yield* storedTemplate({ organization_id: organization.id, created_by: owner.user.id })
      const version = template.active_version_id
      const preset = yield* Effect.flatMap(Ids, ({ next }) => next)
      const [versions, updated_at] = [yield* TemplateVersionRepository, yield* Timestamp.now]
      const presets = [
        {
          id: preset,
          template_version_id: version,
          name: "Pool",
          description: "",
          icon: "",
          default: true,
          desired_prebuild_instances: size,
          prebuild_policy: { ttl_seconds: 0, timezone: "", schedule: [] },
          parameters: []
        }
      ]
      yield* versions.storePlanned(version, {
        engine: null,
        has_ai_task: false,
        has_external_agent: false,
        parameters: [],
        presets,
        updated_at
      })
      const ids: Array<string> = []
      for (let count = 0; count < size; count++) {
        const build = { template_version_id: version, template_version_preset_id: preset }
        const stored = yield* storedWorkspace(template, Uuid.Uuid.make(prebuildsUserId), { build })
        yield* Effect.flatMap(BuildResources, ({ insert }) => insert({ job_id: stored.build.job_id, transition: "start" }, [aResource()]))
        ids.push(stored.workspace.id)
      }
      const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
      yield* sql`UPDATE workspace_agents SET lifecycle_state = 'ready'`
      return { template_id: template.id, ids }
    })
  )

const Created = Schema.Struct({ id: Schema.String })
const Found = Schema.Struct({ workspaces: Schema.Array(Schema.Struct({ id: Schema.String })) })

it("claims of prebuilt workspaces are linearizable", async () => {
  await first.call("PUT", "/prebuilds/settings", { token: owner.token, body: { reconciliation_paused: true } })
  const { ids, template_id } = await aPool(4)
  const stop = await cutting()
  let claims = 0
  const history = await historyOf<ClaimCall, string | "taken">(4, 6, (server) => {
    if (chance.is(0.25)) {
      const answer = server.call("GET", `/workspaces?q=owner:prebuilds`, { token: owner.token })
      const seen = known(answer, (given) =>
        given
          .as(Found)
          .workspaces.map(({ id }) => id)
          .toSorted()
          .join(" ")
      )
      return [{ is: "look" }, seen]
    }
    // Two callers at a time want the same name
    const name = `claimed-${Math.floor(claims++ / 2)}`
    const answer = server.call("POST", "/users/me/workspaces", { token: owner.token, body: { name, template_id } })
    return [{ is: "claim", name }, known(answer, (given) => (given.status === 201 ? given.as(Created).id : "taken"))]
  })
  await stop()
  expect(history.some(({ output }) => output !== undefined && ids.includes(output))).toBe(true)
  expect(unplaced(pool(ids), history), shown(history)).toBeUndefined()
}, 60_000)
