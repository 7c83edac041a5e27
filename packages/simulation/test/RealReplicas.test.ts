/**
 * Histories of three real servers on one PostgreSQL, whose connections are cut at random moments: what callers hear has to be what one server would have
 * answered, one call after the other.
 */
import { OrganizationRepository } from "@atelier/core/organizations"
import { Locks } from "@atelier/core/platform"
import { Postgres } from "@atelier/storage-postgres"
import { Effect, Option, Schema } from "effect"
import pg from "pg"
import { afterAll, beforeAll, expect, it } from "vitest"
import { aClient, aCode, type Client, redeem, refresh, someTokens, Tokens } from "../../http/test/oauth2/OAuthClient.js"
import { lastingDatabaseUrl } from "../../../test/store/databases.js"
import { type Answer, type Person, startServer, type TestServer } from "../../../test/http/server.js"
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
    startServer(Postgres.layer({ url: databaseUrl, maxConnections: 3 }), { empty, options: { provisionerDaemons: 0 } })
  first = await start(false)
  servers = [first, await start(true), await start(true)]
  owner = first.owner()
  client = await aClient(first)
})
afterAll(async () => {
  for (const server of servers) await server.close()
})

/** Cuts connections to the database at random moments, until it is told to end. */
const cutting = async (): Promise<() => Promise<void>> => {
  const administrator = new pg.Client({ connectionString: databaseUrl })
  await administrator.connect()
  const state = { isOver: false }
  const cut = async (): Promise<void> => {
    while (!state.isOver) {
      await administrator.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND query NOT LIKE 'LISTEN%' ORDER BY random() LIMIT 1`
      )
      await new Promise((resolve) => setTimeout(resolve, 5 + chance.next() * 40))
    }
    await administrator.end()
  }
  const ended = cut()
  return () => {
    state.isOver = true
    return ended
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

/** A lock is held by one at a time. */
const lock: Model<boolean, "take" | "release", boolean> = {
  initial: false,
  next: (isHeld, call, output) => (call === "release" ? [false] : output === !isHeld ? [true] : [])
}

it("locks are linearizable", async () => {
  const history: Array<Operation<"take" | "release", boolean>> = []
  const take = async (server: TestServer): Promise<void> => {
    const begin = performance.now()
    let released = begin
    const taken = await server.run(
      Effect.flatMap(Locks, (locks) =>
        locks.tryWith(
          "linearizable",
          Effect.gen(function* () {
            history.push({ input: "take", output: true, begin, end: performance.now() })
            yield* Effect.sleep(`${chance.below(8)} millis`)
            released = performance.now()
          })
        )
      )
    )
    const end = performance.now()
    if (Option.isSome(taken)) history.push({ input: "release", output: true, begin: released, end })
    else history.push({ input: "take", output: false, begin, end })
  }
  await Promise.all(
    servers.map(async (server) => {
      for (let count = 0; count < 12; count++) await take(server)
    })
  )
  expect(history.filter(({ input, output }) => input === "take" && output === true).length).toBeGreaterThan(1)
  expect(unplaced(lock, history), shown(history)).toBeUndefined()
}, 60_000)
