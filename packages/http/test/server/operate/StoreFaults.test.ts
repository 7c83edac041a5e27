import { StoreUnavailable, Transactor } from "@atelier/core/platform"
import { ProvisionerDaemonRepository } from "@atelier/core/provisioning"
import { Postgres } from "@atelier/storage-postgres"
import { SqlClient } from "@effect/sql"
import { Cause, Context, Deferred, Effect, Exit, Fiber, Layer, Logger, Scope } from "effect"
import { mkdtemp, open, rm } from "node:fs/promises"
import { connect, createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { aTar } from "../../../../../test/records/archives.js"
import { databaseUrl, sqlite, sqliteIn } from "../../../../../test/store/databases.js"
import { testEngines } from "../../../../../test/outside/engine.js"
import { startServer, type TestServer } from "../../../../../test/http/server.js"
import { StoreFaults } from "../../../src/server/operate/StoreFaults.js"

/** What the log says of the store. */
const aLog = () => {
  const lines: Array<string> = []
  const logger = Logger.make<unknown, void>(({ message }) => void lines.push([message].flat().map(String).join(" ")))
  return {
    logger,
    of: (text: string) => lines.filter((line) => line.includes(text)).length,
    failed: () => lines.filter((line) => line.includes("a request failed")).length
  }
}

/** A database's address that the test can take away and give back. */
const aProxy = async (target: URL) => {
  const sockets = new Set<Socket>()
  let isOpen = true
  const server = createServer((client) => {
    if (!isOpen) return void client.destroy()
    const upstream = connect(Number(target.port), target.hostname)
    for (const [one, other] of [
      [client, upstream],
      [upstream, client]
    ] as const) {
      sockets.add(one)
      one.on("error", () => other.destroy()).on("close", () => other.destroy())
      one.pipe(other)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  const url = new URL(target)
  url.hostname = "127.0.0.1"
  url.port = String(address.port)
  return {
    url: url.href,
    cut: () => {
      isOpen = false
      for (const socket of sockets) socket.destroy()
      sockets.clear()
    },
    restore: () => void (isOpen = true),
    close: () => new Promise((resolve) => server.close(resolve))
  }
}

const ready = async (server: TestServer): Promise<readonly [status: number, text: string]> => {
  const { status, text } = await server.call("GET", "//readyz")
  return [status, text]
}

/** Asks until the answer has a status: connections that were lost are noticed one by one. */
const until = async (status: number, ask: () => Promise<number>): Promise<void> => {
  await expect.poll(ask, { timeout: 60_000, interval: 20 }).toBe(status)
}

describe("a server whose PostgreSQL", () => {
  const log = aLog()
  const scope = Effect.runSync(Scope.make())
  let database: string
  let proxy: Awaited<ReturnType<typeof aProxy>>
  let server: TestServer
  beforeAll(async () => {
    database = await Effect.runPromise(Scope.extend(databaseUrl, scope))
    proxy = await aProxy(new URL(database))
    const storage = Postgres.layer({ url: proxy.url, maxConnections: 4, connectionTimeout: "2 seconds" })
    server = await startServer(storage, { logger: log.logger, logLevel: "error" })
  })
  afterAll(async () => {
    await server.close()
    proxy.cut()
    await proxy.close()
    await Effect.runPromise(Scope.close(scope, Exit.void))
  })
  const me = () => server.call("GET", "/users/me", { token: server.owner().token })
  const users = () => server.call("GET", "/users?limit=1", { token: server.owner().token })

  it("is unreachable answers 503 with Retry-After, logs it once, and recovers", async () => {
    expect(await ready(server)).toStrictEqual([200, "OK"])
    proxy.cut()
    await until(503, async () => (await ready(server))[0])
    const answers = await Promise.all(Array.from({ length: 20 }, me))
    expect(answers.map(({ status }) => status)).toStrictEqual(answers.map(() => 503))
    expect([answers[0]?.headers.get("retry-after"), answers[0]?.body]).toStrictEqual(["5", { message: "The store does not answer." }])
    const page = await server.call("GET", "//login", { headers: { accept: "text/html" } })
    expect([page.status, page.headers.get("retry-after"), page.headers.get("content-type")]).toStrictEqual([
      503,
      "5",
      "text/html; charset=utf-8"
    ])
    expect(page.text).toContain("<h1>The service is not available</h1>\n<p>The store does not answer.</p>")
    const { token } = server.owner()
    const asBrowser = { accept: "text/html", cookie: `service_session_token=${token}` }
    const shown = ["/oauth2/device", "/api/v2/users/oidc/callback", "/api/v2/users/oauth2/github/callback"].map((path) =>
      fetch(`${server.url}${path}`, { headers: asBrowser })
    )
    const read = fetch(`${server.url}/oauth2/tokens`, { method: "POST", headers: asBrowser })
    const types = (await Promise.all([...shown, read])).map(({ headers, status }) => [status, headers.get("content-type")])
    const [html, json] = [
      [503, "text/html; charset=utf-8"],
      [503, "application/json; charset=utf-8"]
    ]
    expect(types).toStrictEqual([html, html, html, json])
    expect((await server.call("GET", "//healthz")).status).toBe(200)
    expect([log.of("The store does not answer."), log.failed()]).toStrictEqual([1, 0])
    proxy.restore()
    await until(200, async () => (await ready(server))[0])
    await until(200, async () => (await me()).status)
  })

  it("can only be read answers writes 503 and reads as ever, and writes again once it can", async () => {
    const administrator = new pg.Client({ connectionString: database })
    await administrator.connect()
    const setReadOnly = async (value: "on" | "off") => {
      await administrator.query(`ALTER DATABASE ${new URL(database).pathname.slice(1)} SET default_transaction_read_only = ${value}`)
      // Connections have what was set when they were made
      await administrator.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'atelier'"
      )
    }
    const change = () =>
      server.call("PUT", "/users/me/appearance", {
        token: server.owner().token,
        body: { theme_preference: "dark", terminal_font: "fira-code" }
      })
    const message = "The store can only be read: nothing can be written."
    await setReadOnly("on")
    server.advance("2 hours")
    await expect.poll(async () => (await change()).body, { timeout: 60_000, interval: 20 }).toStrictEqual({ message })
    await until(200, async () => (await me()).status)
    expect([log.of(message), log.failed()]).toStrictEqual([1, 0])
    await setReadOnly("off")
    await until(200, async () => (await change()).status)
    server.advance("61 seconds")
    await expect.poll(() => ready(server), { timeout: 60_000, interval: 20 }).toStrictEqual([200, "OK"])
    await administrator.end()
  })

  it("has no free connection answers 503, and serves again once one is free", async () => {
    const done = Effect.runSync(Deferred.make<void>())
    const holding = server.run(
      Effect.gen(function* () {
        const { atomically } = yield* Transactor
        const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
        const held = Effect.forEach([1, 2, 3, 4], () => Effect.fork(atomically(Effect.zipRight(sql`SELECT 1`, Deferred.await(done)))))
        yield* Effect.flatMap(held, Fiber.joinAll)
      })
    )
    await until(503, async () => (await users()).status)
    expect((await users()).body).toStrictEqual({ message: "All connections to the store are in use." })
    // The reads that requests begin with have a connection of their own
    expect((await me()).status).toBe(200)
    expect((await ready(server))[0]).toBe(503)
    expect([log.of("All connections to the store are in use."), log.failed()]).toStrictEqual([1, 0])
    Effect.runSync(Deferred.succeed(done, undefined))
    await holding
    await until(200, async () => (await ready(server))[0])
    expect((await users()).status).toBe(200)
  })
})

/** Runs a statement on the server's own connection. */
const pragma = (server: TestServer, text: string): Promise<unknown> =>
  server.run(Effect.flatMap(Effect.flatten(Effect.serviceOption(SqlClient.SqlClient)), (sql) => sql.unsafe(text)))

const upload = (server: TestServer, body: Uint8Array) =>
  server.call("POST", "/files", { token: server.owner().token, body, headers: { "Content-Type": "application/x-tar" } })

describe("a server whose SQLite database", () => {
  const log = aLog()
  let directory: string
  let server: TestServer
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "atelier-full-"))
    server = await startServer(sqliteIn(directory), { logger: log.logger, logLevel: "error" })
  })
  afterAll(async () => {
    await server.close()
    await rm(directory, { recursive: true })
  })

  it("is full answers writes 507 and reads as ever, says so once in its log, and writes again once there is room", async () => {
    const { token } = server.owner()
    await server.run(
      Effect.gen(function* () {
        const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
        const [{ page_count = 0 } = {}] = yield* sql<{ readonly page_count: number }>`PRAGMA page_count`
        yield* sql.unsafe(`PRAGMA max_page_count = ${page_count}`)
      })
    )
    const large = async () => upload(server, await aTar({ file: "x".repeat(300_000) }))
    // The next use of the session would be recorded
    server.advance("2 hours")
    const answers = [await large(), await large(), await large()]
    expect(answers.map(({ status }) => status)).toStrictEqual([507, 507, 507])
    expect(answers[0]?.body).toStrictEqual({ message: "The store is full: nothing can be written." })
    expect((await server.call("GET", "/users/me", { token })).status).toBe(200)
    expect(await ready(server)).toStrictEqual([200, "The store is full: nothing can be written."])
    expect([log.of("The store is full"), log.failed()]).toStrictEqual([1, 0])
    await pragma(server, "PRAGMA max_page_count = 1000000")
    expect((await large()).status).toBe(201)
    server.advance("61 seconds")
    expect(await ready(server)).toStrictEqual([200, "OK"])
  })

  it("can only be read answers writes 503 and reads as ever, and writes again once it can", async () => {
    const small = async () => upload(server, await aTar({ file: "y" }))
    await pragma(server, "PRAGMA query_only = ON")
    server.advance("2 hours")
    const message = "The store can only be read: nothing can be written."
    expect(await small()).toMatchObject({ status: 503, body: { message } })
    expect((await server.call("GET", "/users/me", { token: server.owner().token })).status).toBe(200)
    expect((await ready(server))[1]).toBe(message)
    expect([log.of(message), log.failed()]).toStrictEqual([1, 0])
    await pragma(server, "PRAGMA query_only = OFF")
    expect((await small()).status).toBe(201)
    server.advance("61 seconds")
    expect(await ready(server)).toStrictEqual([200, "OK"])
  })
})

it("a server whose SQLite database has a damaged page names it", async () => {
  const directory = await mkdtemp(join(tmpdir(), "atelier-damaged-"))
  try {
    const whole = await startServer(sqliteIn(directory))
    const { token } = whole.owner()
    const [page] = await whole.run(
      Effect.gen(function* () {
        const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
        return yield* sql<{ readonly rootpage: number; readonly size: number }>`
          SELECT rootpage, (SELECT page_size FROM pragma_page_size) AS size FROM sqlite_master WHERE name = 'audit_logs'`
      })
    )
    await whole.close()
    const file = await open(join(directory, "atelier.db"), "r+")
    const { rootpage, size } = page ?? { rootpage: 0, size: 0 }
    await file.write(Buffer.alloc(size, 0x5a), 0, size, (rootpage - 1) * size)
    await file.close()
    const log = aLog()
    const server = await startServer(sqliteIn(directory), { empty: true, logger: log.logger, logLevel: "error" })
    const message = "The store is damaged: a backup has to be restored."
    expect(await server.call("GET", "/audit?limit=5", { token })).toMatchObject({ status: 503, body: { message } })
    expect(await ready(server)).toStrictEqual([200, message])
    expect((await server.call("GET", "/users/me", { token })).status).toBe(200)
    expect([log.of(message), log.failed()]).toStrictEqual([1, 0])
    await server.close()
  } finally {
    await rm(directory, { recursive: true })
  }
})

it("a server whose store is full starts and reads", async () => {
  const full = new StoreUnavailable({ reason: "full", cause: "no room" })
  let isFull = true
  const storage = Layer.map(sqlite, (services) => {
    const repository = Context.get(services, ProvisionerDaemonRepository)
    const registerEmbedded: typeof repository.registerEmbedded = (...parameters) =>
      Effect.suspend(() => (isFull ? Effect.die(full) : repository.registerEmbedded(...parameters)))
    return Context.add(services, ProvisionerDaemonRepository, { ...repository, registerEmbedded })
  })
  const server = await startServer(storage, { provisioner: testEngines })
  const { token } = server.owner()
  const daemons = async () => {
    const { body, status } = await server.call("GET", "/organizations/default/provisionerdaemons", { token })
    return [status, Array.isArray(body) ? body.length : undefined]
  }
  expect(await daemons()).toStrictEqual([200, 0])
  isFull = false
  await until(3, async () => (await daemons())[1] ?? 0)
  await server.close()
})

describe("what a stream tells of a failure", () => {
  const failures = [
    ["away", "Unavailable", "The store does not answer."],
    ["damaged", "Unavailable", "The store is damaged: a backup has to be restored."],
    ["read-only", "Unavailable", "The store can only be read: nothing can be written."],
    ["exhausted", "Unavailable", "All connections to the store are in use."],
    ["full", "StorageFull", "The store is full: nothing can be written."]
  ] as const

  it.each(failures)("of a store that is %s is %s, and the log has it once", async (reason, tag, message) => {
    const log = aLog()
    const told = Effect.flatMap(StoreFaults, (faults) =>
      Effect.replicateEffect(faults.refusalOf(Cause.die(new StoreUnavailable({ reason, cause: "refused" })), "a stream failed"), 3)
    )
    const refusals = await Effect.runPromise(
      told.pipe(Effect.provide(StoreFaults.layer), Effect.provide(Logger.replace(Logger.defaultLogger, log.logger)))
    )
    expect(refusals).toMatchObject([1, 2, 3].map(() => ({ _tag: tag, message })))
    expect([log.of(message), log.of("a stream failed")]).toStrictEqual([1, 0])
  })
})
