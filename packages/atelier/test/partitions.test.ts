/**
 * Networks that go silent: the other side answers no more, and no connection is closed. Each kind of connection has the bounds that it has in use. The
 * tests wait side by side, as all of them take 15 seconds.
 */
import { EventBus, type Events, Locks, Uuid } from "@atelier/core/platform"
import { type Mail, Mailer } from "@atelier/core/notifications"
import { ProvisionerEngines } from "@atelier/core/provisioning"
import { WorkspaceProxy } from "@atelier/http"
import { makeServer } from "@atelier/http/node"
import { SmtpMailer } from "@atelier/node"
import { Daemon } from "@atelier/provisioner/daemon"
import { Postgres } from "@atelier/storage-postgres"
import { SqlClient } from "@effect/sql"
import { Context, Effect, Exit, Layer, Logger, Queue, Redacted, Schedule, Schema, Scope } from "effect"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { createServer, type Server } from "node:http"
import { afterAll, beforeAll, type ExpectStatic, expect as expecting, it } from "vitest"
import { WebSocket } from "ws"
import * as Agent from "../../agent/src/Agent.js"
import { aConfig, folder } from "../../agent/test/TestServer.js"
import { type AgentServer, type RunningAgent, startAgentServer } from "../../http/test/agents/AgentServer.js"
import { aVersion, ended } from "../../../test/http/templates.js"
import { testEngine } from "../../../test/outside/engine.js"
import { startMailServer } from "../../../test/outside/mailServer.js"
import { aWayTo, type Way } from "../../../test/outside/ways.js"
import { freshDatabaseUrl } from "../../../test/store/databases.js"

/** Milliseconds within which a silent connection is noticed. */
const noticed = 15_000

/** Milliseconds more until a new connection serves, on a busy machine. */
const healed = 10_000

const scope = Effect.runSync(Scope.make())
const inScope = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>): Promise<A> =>
  Effect.runPromise(effect.pipe(Scope.extend(scope), Effect.provide(Logger.remove(Logger.defaultLogger))))

/** Fails if a promise is not settled within so many milliseconds. */
const within = async <A>(milliseconds: number, promise: Promise<A>): Promise<A> => {
  const begun = performance.now()
  const value = await promise
  expecting(performance.now() - begun).toBeLessThan(milliseconds)
  return value
}

const listening = async (server: Server): Promise<string> => {
  await once(server.listen(0, "127.0.0.1"), "listening")
  const address = server.address()
  await inScope(
    Effect.addFinalizer(() =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
    )
  )
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
}

let databaseUrl: string
let near: AgentServer
let far: AgentServer
/** From the near server to the far one, which it may look for before that has started. */
let between: Way
let farUrl: string | undefined

beforeAll(async () => {
  databaseUrl = await inScope(freshDatabaseUrl)
  between = await inScope(aWayTo(() => farUrl))
  const start = (options: Parameters<typeof startAgentServer>[1]) =>
    startAgentServer(Postgres.layer({ url: databaseUrl, maxConnections: 5 }), options)
  near = await start({})
  far = await start({ empty: true, options: { derpServerRelayUrl: between.url } })
  farUrl = far.url
})
afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  await Promise.all([near.close(), far.close()])
})

/** Another process on the database, and its way there. */
const aStore = async () => {
  const way = await inScope(aWayTo(databaseUrl))
  const store = await inScope(Layer.build(Postgres.layer({ url: way.url, maxConnections: 2 })))
  return { way, sql: Context.get(store, SqlClient.SqlClient), bus: Context.get(store, EventBus), locks: Context.get(store, Locks) }
}

it.concurrent("a pool gives up silent connections", async ({ expect }) => {
  const { sql, way } = await aStore()
  const asked = Effect.exit(sql`SELECT 1 AS one`)
  const lost = Effect.runPromise(
    Effect.exit(
      sql.withTransaction(
        Effect.gen(function* () {
          yield* asked
          way.silence()
          yield* sql`SELECT 2`
        })
      )
    )
  )
  expect(Exit.isFailure(await within(noticed, lost))).toBe(true)
  expect(Exit.isSuccess(await within(healed, Effect.runPromise(asked)))).toBe(true)
})

it.concurrent("a pool serves again after a database that did not answer", async ({ expect }) => {
  const { sql, way } = await aStore()
  const asked = Effect.exit(sql`SELECT 1 AS one`)
  await Effect.runPromise(asked)
  way.block()
  expect(Exit.isFailure(await within(noticed, Effect.runPromise(asked)))).toBe(true)
  way.unblock()
  await expect.poll(async () => Exit.isSuccess(await Effect.runPromise(asked)), { timeout: noticed + healed }).toBe(true)
})

it.concurrent("a pool gives up no statement that the database works on, and asks once for all of them", async ({ expect }) => {
  const { sql, way } = await aStore()
  const twice = (seconds: number) => {
    const asleep = sql`SELECT pg_sleep(${seconds}) IS NULL AS ended`
    return Effect.runPromise(Effect.all([asleep, asleep], { concurrency: 2 }))
  }
  await twice(0.1)
  const before = way.connections()
  expect(await twice(7)).toStrictEqual([[{ ended: false }], [{ ended: false }]])
  expect(way.connections()).toBe(before + 1)
})

it.concurrent("a pool gives up no answer that arrives slowly", async ({ expect }) => {
  const { sql, way } = await aStore()
  const long = sql`SELECT repeat('x', ${2_500_000}) AS text`
  const length = Effect.map(long, (rows) => JSON.stringify(rows).length)
  const usual = await Effect.runPromise(length)
  way.slow()
  const begun = performance.now()
  expect(await Effect.runPromise(length)).toBe(usual)
  expect(performance.now() - begun).toBeGreaterThan(6_000)
})

it.concurrent("events of other processes are heard again, and locks given up", async ({ expect }) => {
  const { bus, locks, way } = await aStore()
  const other = await aStore()
  const heard = await inScope(Queue.unbounded<Events.Delivery<string>>())
  const channel = randomUUID()
  await inScope(bus.listen(channel, (delivery) => void heard.unsafeOffer(delivery)))
  const next = () => Effect.runPromise(heard.take)
  const isHeld = Effect.runSync(Effect.makeLatch())
  const held = Effect.runPromise(Effect.exit(locks.tryWith(channel, Effect.zipRight(isHeld.open, Effect.never))))
  await Effect.runPromise(isHeld.await)
  way.silence()
  const [first, exit] = await within(noticed, Promise.all([next(), held]))
  expect([first._tag, Exit.isFailure(exit)]).toStrictEqual(["Lost", true])
  await Effect.runPromise(other.bus.publish(channel, "heard"))
  expect(await within(healed, next())).toStrictEqual({ _tag: "Event", event: "heard" })
})

/** Runs the agent's own program, connected by a way. */
const anAgentBy = async (expect: ExpectStatic, url: string): Promise<RunningAgent> => {
  const agent = await near.anAgent({}, near.owner())
  const home = await inScope(folder)
  await inScope(Effect.forkScoped(Agent.run({ ...aConfig(new URL(url), home), token: Redacted.make(agent.token) })))
  await expect.poll(async () => (await exec(agent, "true")).status, { interval: 100 }).toBe(200)
  return agent
}

const exec = ({ id }: RunningAgent, program: string, args: ReadonlyArray<string> = []) =>
  near.call("POST", `/workspaceagents/${id}/exec`, { token: near.owner().token, body: { program, args } })

/** An open terminal of an agent, at a server. */
const terminalOf = ({ id }: RunningAgent, server: AgentServer) => {
  const socket = new WebSocket(`${server.url.replace("http", "ws")}/api/v2/workspaceagents/${id}/pty?reconnect=${randomUUID()}`, {
    headers: { "service-session-token": near.owner().token }
  })
  socket.on("error", () => undefined)
  return { opened: once(socket, "message"), closed: once(socket, "close").then(([code]: ReadonlyArray<unknown>) => code) }
}

it.concurrent("an agent notices it, and connects again", async ({ expect }) => {
  const way = await inScope(aWayTo(near.url))
  const agent = await anAgentBy(expect, way.url)
  const { closed, opened } = terminalOf(agent, near)
  await opened
  way.silence()
  expect([1011, 1006]).toContain(await within(noticed + 1_000, closed))
  await expect.poll(async () => (await exec(agent, "true")).status, { interval: 100, timeout: healed }).toBe(200)
})

it.concurrent("a server shows an agent that it does not hear as disconnected, until it is back", async ({ expect }) => {
  const way = await inScope(aWayTo(near.url))
  const agent = await anAgentBy(expect, way.url)
  const Status = Schema.Struct({ status: Schema.String })
  const status = async () => (await near.call("GET", `/workspaceagents/${agent.id}`, { token: near.owner().token })).as(Status).status
  way.block()
  await expect.poll(status, { interval: 100, timeout: noticed }).toBe("disconnected")
  way.unblock()
  await expect.poll(status, { interval: 100, timeout: noticed + healed }).toBe("connected")
  expect((await exec(agent, "true")).status).toBe(200)
})

it.concurrent("a server notices it on its connections to another one, and makes new ones", async ({ expect }) => {
  const agent = await anAgentBy(expect, far.url)
  const { closed, opened } = terminalOf(agent, near)
  await opened
  const running = exec(agent, "sleep", ["1000"])
  // One for the relay, and one that the terminal and the command share
  await expect.poll(() => between.connections(), { timeout: noticed }).toBeGreaterThan(1)
  const before = between.connections()
  between.silence()
  const [answer] = await within(noticed + 1_000, Promise.all([running, closed]))
  expect(answer.status).toBe(502)
  expect((await within(healed, exec(agent, "true"))).status).toBe(200)
  await expect.poll(() => between.connections(), { timeout: healed }).toBeGreaterThan(before + 1)
})

it.concurrent("a daemon notices it, connects again, and is given jobs", async ({ expect }) => {
  const Key = Schema.Struct({ key: Schema.String })
  const token = near.owner().token
  const site = randomUUID()
  const body = { name: `far-${site}`, tags: { site } }
  const { key } = (await near.call("POST", "/organizations/default/provisionerkeys", { token, body })).as(Key)
  const way = await inScope(aWayTo(near.url))
  const config = {
    url: new URL(way.url),
    credential: { kind: "key" as const, secret: Redacted.make(key) },
    organization: "default",
    name: "far",
    tags: [],
    brand: "Service"
  }
  await inScope(
    Daemon.run(config, { ending: Effect.never, handingBack: Effect.never }).pipe(
      Effect.provideService(ProvisionerEngines, [testEngine]),
      Effect.forkScoped
    )
  )
  const imported = async () => {
    const { job } = await aVersion(near, {}, { provisioner: "terraform", tags: { site } })
    return (await ended(near, job)) as unknown
  }
  await imported()
  const before = way.connections()
  way.silence()
  await expect.poll(() => way.connections(), { interval: 100, timeout: noticed + healed }).toBeGreaterThan(before)
  await within(healed, imported())
})

/** A workspace proxy, and its way to the service. */
const aProxy = async () => {
  const Made = Schema.Struct({ proxy_token: Schema.String })
  const body = { name: `p${randomUUID().slice(0, 8)}`, display_name: "", icon: "" }
  const made = (await near.call("POST", "/workspaceproxies", { token: near.owner().token, body })).as(Made)
  const way = await inScope(aWayTo(near.url))
  const listener = makeServer()
  const url = await listening(listener)
  const { handler, register, upgrade } = await inScope(
    WorkspaceProxy.make({ primaryAccessUrl: way.url, token: made.proxy_token, accessUrl: url, wildcardAccessUrl: "*.east.test" })
  )
  listener.on("request", handler).on("upgrade", upgrade)
  await inScope(register)
  return {
    way,
    visit: async () => (await fetch(`${url}/@owner/any.main/apps/web/`, { redirect: "manual" })).status,
    problems: async () => ((await (await fetch(`${url}/healthz-report`)).json()) as { errors: ReadonlyArray<string> }).errors.length
  }
}

it.concurrent("a workspace proxy answers what waits for a silent connection", async ({ expect }) => {
  const { visit, way } = await aProxy()
  const usual = await visit()
  way.silence()
  expect(await within(noticed, visit())).toBe(usual)
})

/** A service that registers proxies, and apps which have nothing to say. */
const aQuietService = async () => {
  /** Registrations that are not answered for so many milliseconds, or are cut off. */
  const plan: Array<number | "cut off"> = []
  let registrations = 0
  const service = createServer((request, response) => {
    if (request.method !== "POST") return void response.writeHead(200).write("begun")
    registrations += 1
    const next = plan.shift() ?? 0
    if (next === "cut off") request.socket.destroy()
    else setTimeout(() => response.writeHead(201).end("{}"), next)
  })
  return { url: await listening(service), plan, registrations: () => registrations }
}

it.concurrent("a workspace proxy leaves quiet connections alone if a registration is cut off, or answered late", async ({ expect }) => {
  const { plan, registrations, url } = await aQuietService()
  const listener = makeServer()
  const at = await listening(listener)
  const { handler, register } = await inScope(WorkspaceProxy.make({ primaryAccessUrl: url, token: "token", accessUrl: at }))
  listener.on("request", handler)
  await inScope(register)
  const quiet = await fetch(`${at}/@owner/any.main/apps/web/`)
  let isLost = false
  quiet.text().catch(() => (isLost = true))
  plan.push("cut off")
  await expect.poll(registrations, { interval: 100, timeout: noticed }).toBe(3)
  plan.push(6_500, 500)
  await expect.poll(registrations, { interval: 100, timeout: 2 * noticed }).toBe(6)
  expect(isLost).toBe(false)
})

it.concurrent("a workspace proxy says that the service does not answer", async ({ expect }) => {
  const { problems, visit, way } = await aProxy()
  const usual = await visit()
  way.block()
  await expect.poll(problems, { interval: 100, timeout: noticed }).toBe(1)
  // It may begin between two questions of the proxy
  expect(await within(noticed + 10_000, visit())).toBe(502)
  way.unblock()
  await expect.poll(problems, { interval: 100, timeout: noticed }).toBe(0)
  expect(await visit()).toBe(usual)
})

/** A mailer that has sent a message, and its way to the mail server. */
const aMailer = async () => {
  const server = await startMailServer()
  await inScope(Effect.addFinalizer(() => Effect.promise(server.close)))
  const way = await inScope(aWayTo(`http://${server.smarthost}`))
  const options = { smarthost: new URL(way.url).host, from: "atelier@example.com" }
  const { send } = Context.get(await inScope(Layer.build(SmtpMailer.layer(options))), Mailer)
  const mail = (): Mail => ({ id: Uuid.Uuid.make(randomUUID()), to: "ada@example.com", subject: "s", text: "t", html: "h" })
  const isSent = async () => Exit.isSuccess(await Effect.runPromise(Effect.exit(send(mail()))))
  expecting(await isSent()).toBe(true)
  return { way, isSent }
}

it.concurrent("mail is sent over another connection", async ({ expect }) => {
  const { isSent, way } = await aMailer()
  way.silence()
  expect(await within(noticed, isSent())).toBe(true)
})

it.concurrent("mail is not sent, and sent again after its server is back", async ({ expect }) => {
  const { isSent, way } = await aMailer()
  way.block()
  // The second try has another connection
  expect(await within(noticed + 10_000, isSent())).toBe(false)
  way.unblock()
  expect(await within(healed, isSent())).toBe(true)
})

it.concurrent("a login by an identity provider is refused in time, and the next one served", async ({ expect }) => {
  let issuer = ""
  const provider = createServer((request, response) => {
    const document = {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"]
    }
    const isKnown = request.url === "/.well-known/openid-configuration"
    response
      .writeHead(isKnown ? 200 : 400, { "content-type": "application/json" })
      .end(JSON.stringify(isKnown ? document : { error: "invalid_grant" }))
  })
  const address = await listening(provider)
  const way = await inScope(aWayTo(address))
  issuer = way.url.replace(/\/$/, "")
  const options = { oidcClientId: "atelier", oidcClientSecret: "secret", oidcIssuerUrl: issuer }
  way.block()
  // A server starts without its provider
  const server = await within(noticed, startAgentServer(Postgres.layer({ url: databaseUrl, maxConnections: 2 }), { empty: true, options }))
  const path = "/api/v2/users/oidc/callback"
  expect((await fetch(`${server.url}${path}`, { redirect: "manual" })).status).toBe(503)
  way.unblock()
  const answer = async () => {
    const begun = await fetch(`${server.url}${path}`, { redirect: "manual" })
    const state = new URL(begun.headers.get("location") ?? "").searchParams.get("state") ?? ""
    const cookie = begun.headers.getSetCookie().map((line) => line.split(";", 1)[0])
    const headers = { cookie: cookie.join("; ") }
    const answered = await fetch(`${server.url}${path}?code=c&state=${state}`, { redirect: "manual", headers })
    return { status: answered.status, text: await answered.text() }
  }
  const isBack = async () => (await fetch(`${server.url}${path}`, { redirect: "manual" })).status === 307
  await within(healed, inScope(Effect.repeat(Effect.promise(isBack), { until: Boolean, schedule: Schedule.spaced("200 millis") })))
  const refused = await answer()
  way.block()
  const unanswered = await within(noticed, answer())
  expect(unanswered.status).toBeGreaterThanOrEqual(400)
  expect(unanswered).not.toStrictEqual(refused)
  way.unblock()
  expect(await within(healed, answer())).toStrictEqual(refused)
  await server.close()
})
