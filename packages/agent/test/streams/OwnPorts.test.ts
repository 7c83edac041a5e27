/** Which ports are a workspace's, where workspaces share a machine. */
import { expect, it } from "@effect/vitest"
import { ReverseStream } from "@atelier/agent-protocol"
import { Effect } from "effect"
import { createServer } from "node:net"
import { readAll } from "../../../../test/http/streams.js"
import { aListeningProcess } from "../../../../test/outside/listeningProcess.js"
import { OwnPorts } from "../../src/index.js"
import { readTables } from "../../src/streams/ListeningPorts.js"
import { runAgent, serve } from "../TestServer.js"

const variable = "SERVICE_LOCAL_WORKSPACE"
const environment = { PATH: process.env["PATH"] ?? "", [variable]: "mine" }

const listening = (host: string) =>
  Effect.acquireRelease(
    Effect.async<ReturnType<typeof createServer>>((resume) => {
      const server = createServer()
      server.listen({ host, port: 0, ipv6Only: true }, () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => void server.close())
  ).pipe(
    Effect.map((server) => {
      const address = server.address()
      return typeof address === "object" && address !== null ? address.port : 0
    })
  )

it.scopedLive.skipIf(process.platform !== "linux")("a port is the workspace's if one of its processes listens on it", () =>
  Effect.gen(function* () {
    const isForeign = (port: number, pids: ReadonlyArray<number>) =>
      Effect.promise(() => OwnPorts.ofProcesses(async () => pids).isForeign(port))
    for (const host of ["127.0.0.1", "0.0.0.0", "::1", "::"]) {
      const port = yield* listening(host)
      expect([host, yield* isForeign(port, [process.pid]), yield* isForeign(port, [])]).toStrictEqual([host, false, true])
    }
    const closed = yield* Effect.scoped(listening("127.0.0.1"))
    expect(yield* isForeign(closed, [])).toBe(false)
  })
)

it.scopedLive.skipIf(process.platform !== "linux")("sockets that were found are not looked for again", () =>
  Effect.gen(function* () {
    let looks = 0
    const ports = OwnPorts.ofProcesses(async () => {
      looks += 1
      return [process.pid]
    })
    const first = yield* listening("127.0.0.1")
    for (const _ of [1, 2, 3]) expect(yield* Effect.promise(() => ports.isForeign(first))).toBe(false)
    expect(looks).toBe(1)
    expect(yield* Effect.promise(() => ports.isForeign(first))).toBe(false)
    const second = yield* listening("127.0.0.1")
    expect(yield* Effect.promise(() => ports.isForeign(second))).toBe(false)
    expect(looks).toBe(2)
  })
)

it.scopedLive.skipIf(process.platform !== "linux")("connections that are opened at once share a look at the tables", () =>
  Effect.gen(function* () {
    let reads = 0
    const ports = OwnPorts.ofProcesses(
      async () => [process.pid],
      async () => {
        reads += 1
        return readTables()
      }
    )
    const port = yield* listening("127.0.0.1")
    const at = yield* Effect.promise(() => Promise.all(Array.from({ length: 20 }, () => ports.isForeign(port))))
    expect([at.some((isForeign) => isForeign), reads]).toStrictEqual([false, 1])

    // One that begins during a look is told of what the next one finds
    const first = ports.isForeign(port)
    yield* Effect.promise(() => Promise.resolve())
    const later = yield* listening("127.0.0.1")
    expect(yield* Effect.promise(() => Promise.all([first, ports.isForeign(later), ports.isForeign(port)]))).toStrictEqual([
      false,
      false,
      false
    ])
    expect(reads).toBe(3)
  })
)

it.scopedLive.skipIf(process.platform !== "linux")("a local agent leads to the programs of its workspace alone, and lists no others", () =>
  Effect.gen(function* () {
    const [own, other] = [yield* aListeningProcess({ [variable]: "mine" }), yield* aListeningProcess({ [variable]: "another" })]
    const server = yield* serve({})
    yield* runAgent(server, { environment })
    yield* server.until(() => server.states().includes("READY"))
    const session = yield* Effect.fromNullable(server.session())
    yield* ReverseStream.open(session, { kind: "tcp", port: own })
    const refused = yield* Effect.flip(ReverseStream.open(session, { kind: "tcp", port: other }))
    expect(refused).toMatchObject({ _tag: "Unreachable", message: `Port ${other} is used by another program.` })

    const api = yield* ReverseStream.open(session, { kind: "api" })
    yield* api.write(Buffer.from("GET /api/v0/listening-ports HTTP/1.0\r\n\r\n"))
    const listed = yield* readAll(api)
    expect([listed.includes(`"port":${own}`), listed.includes(`"port":${other}`)]).toStrictEqual([true, false])
  })
)

it.scopedLive.skipIf(process.platform !== "linux")(
  "an app is unhealthy while another workspace's program has its port, and the log says so",
  () =>
    Effect.gen(function* () {
      const port = yield* aListeningProcess({ [variable]: "another" })
      const id = new Uint8Array(16).fill(7)
      const healthcheck = { url: `http://localhost:${port}/`, interval: { seconds: 1, nanos: 0 }, threshold: 0 }
      const server = yield* serve({ manifest: { apps: [{ id, slug: "web", health: "INITIALIZING" as const, healthcheck }] } })
      yield* runAgent(server, { environment })
      yield* server.until(() => server.of("BatchUpdateAppHealths").length > 0 && server.lines(new Uint8Array(16)).length > 0)
      expect(server.of("BatchUpdateAppHealths")[0]?.request.updates[0]?.health).toBe("UNHEALTHY")
      expect(server.lines(new Uint8Array(16))[0]?.output).toBe(`The app web is unhealthy: port ${port} is used by another program.`)
    })
)
