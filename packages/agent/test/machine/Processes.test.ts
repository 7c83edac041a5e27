import { expect, it } from "@effect/vitest"
import type { Session } from "@atelier/agent-protocol"
import { Effect } from "effect"
import { runAgent, serve } from "../TestServer.js"
import { call, open } from "./machineClient.js"
import { isAlive, untilGone } from "./processes.js"

interface Process {
  readonly id: string
  readonly pid: number
  readonly status: string
  readonly output_start: number
  readonly output_end: number
}

const anAgent = Effect.gen(function* () {
  const server = yield* serve({})
  const { stop } = yield* runAgent(server, { environment: { PATH: process.env["PATH"] ?? "" } })
  yield* server.until(() => server.states().includes("READY"))
  const session = yield* Effect.fromNullable(server.session())
  const start = (body: object) =>
    Effect.map(call(session, "POST", "/processes", body), (answer) => {
      expect(answer.status).toBe(201)
      return answer.body as Process
    })
  return { server, session, start, stop }
})

/** The process once it has ended. The agent answers after 20 seconds at the latest. */
const waited = (session: Session.Session, id: string) =>
  Effect.map(call(session, "GET", `/processes/${id}/wait?timeout_ms=20000`), ({ body }) => body as Process).pipe(
    Effect.repeat({ until: ({ status }) => status !== "running" })
  )

it.scopedLive("a stream carries input, both outputs and the end", () =>
  Effect.gen(function* () {
    const { session, start } = yield* anAgent
    const { id } = yield* start({ program: "sh", args: ["-c", "read line; echo got $line; cat >/dev/null; echo err >&2; exit 7"] })
    const { ended, outputs, socket, told, type, until } = yield* open(session, id)
    type("hello\n")
    yield* until("got hello\n")
    socket.send(JSON.stringify({ type: "close_stdin" }))
    expect(yield* ended).toStrictEqual({ type: "exit", exit_code: 7, signal: null })
    expect(told[0]).toStrictEqual({ type: "start", offset: 0 })
    expect(outputs).toStrictEqual([
      { channel: 1, offset: 0, text: "got hello\n" },
      { channel: 2, offset: 10, text: "err\n" }
    ])
    expect((yield* call(session, "GET", `/processes/${id}`)).body).toMatchObject({ status: "exited", exit_code: 7, output_end: 14 })
  })
)

it.scopedLive("a stream goes on from an offset after the connection is lost, and the process does not notice", () =>
  Effect.gen(function* () {
    const { server, session, start } = yield* anAgent
    const { id, pid } = yield* start({ program: "sh", args: ["-c", "echo one; read line; echo two"] })
    const first = yield* open(session, id)
    yield* first.until("one\n")
    yield* server.crash
    yield* server.resume
    yield* server.until(() => server.session() !== session)
    const again = yield* Effect.fromNullable(server.session())
    expect((yield* call(again, "GET", "/processes")).body).toMatchObject({ processes: [{ id, pid, status: "running" }] })
    const second = yield* open(again, id, 4)
    second.type("\n")
    yield* second.ended
    expect(second.told[0]).toStrictEqual({ type: "start", offset: 4 })
    expect(second.outputs).toStrictEqual([{ channel: 1, offset: 4, text: "two\n" }])
  })
)

it.scopedLive("output that nobody reads is kept within a bound, and its beginning is lost", () =>
  Effect.gen(function* () {
    const { session, start } = yield* anAgent
    const { id } = yield* start({ command: "head -c 200000000 /dev/zero; echo end" })
    const before = process.memoryUsage().rss
    const { output_end, output_start, status } = yield* waited(session, id)
    expect(process.memoryUsage().rss - before).toBeLessThan(128 * 1024 * 1024)
    expect([status, output_end]).toStrictEqual(["exited", 200_000_004])
    expect(output_end - output_start).toBeGreaterThan(3_500_000)
    expect(output_end - output_start).toBeLessThanOrEqual(4 * 1024 * 1024)
    const { ended, outputs, told } = yield* open(session, id)
    yield* ended
    expect(told[0]).toStrictEqual({ type: "start", offset: output_start })
    expect(outputs.at(-1)?.text.endsWith("end\n")).toBe(true)
  })
)

it.scopedLive("a process waits while its only reader does not read, and goes on without one", () =>
  Effect.gen(function* () {
    const { session, start } = yield* anAgent
    const { id } = yield* start({ command: "read line; head -c 100000000 /dev/zero" })
    const size = () => Effect.map(call(session, "GET", `/processes/${id}`), ({ body }) => (body as Process).output_end)
    const still: (last: number) => Effect.Effect<number> = (last) =>
      Effect.flatMap(Effect.delay(size(), "100 millis"), (now) => (now > 0 && now === last ? Effect.succeed(now) : still(now)))
    yield* Effect.scoped(
      Effect.gen(function* () {
        const { socket, type } = yield* open(session, id)
        socket.pause()
        type("\n")
        expect(yield* still(0)).toBeLessThan(20_000_000)
      })
    )
    expect(yield* waited(session, id)).toMatchObject({
      status: "exited",
      output_end: 100_000_000
    })
  })
)

it.scopedLive("a process on a terminal has its size, and takes another", () =>
  Effect.gen(function* () {
    const { session, start } = yield* anAgent
    const { id } = yield* start({ program: "sh", args: ["-c", "stty size; read line; stty size; exit 4"], pty: { cols: 90, rows: 24 } })
    const { ended, socket, type, until } = yield* open(session, id)
    yield* until("24 90")
    socket.send(JSON.stringify({ type: "resize", cols: 100, rows: 30 }))
    type("\n")
    yield* until("30 100")
    expect(yield* ended).toStrictEqual({ type: "exit", exit_code: 4, signal: null })
    expect((yield* call(session, "GET", `/processes/${id}`)).body).toMatchObject({ pty: true, status: "exited" })
  })
)

it.scopedLive("a signal reaches the group of a process, and is refused after its end", () =>
  Effect.gen(function* () {
    const { session, start } = yield* anAgent
    const { id } = yield* start({ program: "sleep", args: ["1000"], stdin: false })
    const signal = (name: string) => call(session, "POST", `/processes/${id}/signal`, { signal: name })
    expect((yield* signal("SIGNONE")).status).toBe(400)
    expect((yield* call(session, "POST", `/processes/${id}/resize`, { cols: 1, rows: 1 })).status).toBe(409)
    expect((yield* call(session, "GET", `/processes/${id}/wait?timeout_ms=0`)).body).toMatchObject({ status: "running" })
    expect(yield* signal("SIGUSR1")).toStrictEqual({ status: 204, body: undefined })
    expect((yield* call(session, "GET", `/processes/${id}/wait`)).body).toMatchObject({ status: "exited", signal: "SIGUSR1" })
    expect((yield* signal("SIGTERM")).status).toBe(409)
    expect((yield* call(session, "DELETE", `/processes/${id}`)).status).toBe(204)
    expect((yield* call(session, "GET", `/processes/${id}`)).status).toBe(404)
  })
)

it.scopedLive("a process ends with its time, and with the workspace", () =>
  Effect.gen(function* () {
    const { session, start, stop } = yield* anAgent
    const timed = yield* start({ command: "sleep 1000", timeout_ms: 50 })
    expect((yield* call(session, "GET", `/processes/${timed.id}/wait`)).body).toMatchObject({ status: "exited", signal: "SIGTERM" })
    const { pid } = yield* start({ command: "sleep 1000 & wait" })
    yield* stop
    expect(() => process.kill(-pid, 0)).toThrow("ESRCH")
  })
)

it.scopedLive("the removal of an ended process ends those with its mark, and signals no others of its group", () =>
  Effect.gen(function* () {
    const { session, start } = yield* anAgent
    // The second has the mark until the last of its programs runs
    const isLast = 'until [ "$(cat /proc/$!/comm || echo sleep)" = sleep ]; do :; done 2>/dev/null'
    const others = `sleep 1000 >/dev/null 2>&1 & echo $!; env -i sleep 1000 >/dev/null 2>&1 & echo $!; ${isLast}`
    const { id } = yield* start({ program: "sh", args: ["-c", others] })
    const { ended, outputs } = yield* open(session, id)
    yield* ended
    const pids = outputs
      .map(({ text }) => text)
      .join("")
      .trim()
      .split("\n")
      .map(Number)
    const [marked = 0, stranger = 0] = pids
    expect([marked, stranger].map(isAlive)).toStrictEqual([true, true])
    expect((yield* call(session, "DELETE", `/processes/${id}`)).status).toBe(204)
    yield* untilGone(marked)
    expect(isAlive(stranger)).toBe(true)
    process.kill(stranger, "SIGKILL")
  })
)

it.scopedLive("a signal on a stream does not wait for input that the process does not read", () =>
  Effect.gen(function* () {
    const { session, start } = yield* anAgent
    const { id } = yield* start({ program: "sleep", args: ["1000"] })
    const { ended, socket, type } = yield* open(session, id)
    type("x".repeat(250_000))
    socket.send(JSON.stringify({ type: "signal", signal: "SIGTERM" }))
    expect(yield* ended).toStrictEqual({ type: "exit", exit_code: null, signal: "SIGTERM" })
  })
)
