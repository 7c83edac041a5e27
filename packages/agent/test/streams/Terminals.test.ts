import { randomUUID } from "node:crypto"
import { existsSync } from "node:fs"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Pty, ReverseStream, type ByteStream, type Session } from "@atelier/agent-protocol"
import { Effect, Fiber, Option, Schedule } from "effect"
import { runAgent, serve } from "../TestServer.js"

/** The session with an agent that is ready, and how it is stopped. */
const connectedAgent = Effect.gen(function* () {
  const server = yield* serve({})
  const { stop } = yield* runAgent(server, { environment: { PATH: process.env["PATH"] ?? "", PS1: "$ ", ENV: "" } })
  yield* server.until(() => server.states().includes("READY"))
  return { session: yield* Effect.fromNullable(server.session()), stop }
})

const open = (session: Session.Session, ID: string, more: Partial<Pty.Init> = {}) =>
  Effect.gen(function* () {
    const stream = yield* ReverseStream.open(session, { kind: "pty" })
    const init = { ID, Height: 24, Width: 81, Command: "", Container: "", ContainerUser: "", BackendType: "", ...more }
    yield* stream.write(yield* Pty.encodeInit(init))
    return stream
  })

/** Reads until the output matches; fails where it ends before. */
const until = (stream: ByteStream, pattern: RegExp) =>
  Effect.gen(function* () {
    let text = ""
    while (!pattern.test(text.slice(-100_000))) {
      const chunk = yield* Effect.flatten(stream.read)
      text += Buffer.from(chunk).toString()
    }
    return text
  })

const rest = (stream: ByteStream) =>
  Effect.gen(function* () {
    let text = ""
    for (;;) {
      const chunk = yield* stream.read
      if (Option.isNone(chunk)) return text
      text += Buffer.from(chunk.value).toString()
    }
  })

const type = (stream: ByteStream, request: Pty.Request) => stream.write(Pty.encodeRequest(request))

it.scopedLive("a terminal runs what is typed, in its size, and takes another size", () =>
  Effect.gen(function* () {
    const { session } = yield* connectedAgent
    const stream = yield* open(session, randomUUID())
    yield* type(stream, { data: "stty size\n" })
    yield* until(stream, /24 81/)
    yield* type(stream, { data: "stty size\n", height: 30, width: 100 })
    yield* until(stream, /30 100/)
    yield* type(stream, { height: 40 })
    yield* type(stream, { data: "stty size; echo $TERM\n" })
    expect(yield* until(stream, /xterm-256color/)).toContain("30 100")
  })
)

it.scopedLive("a terminal outlives its viewer, and shows the next one what it has shown", () =>
  Effect.gen(function* () {
    const { session } = yield* connectedAgent
    const id = randomUUID()
    yield* Effect.scoped(
      Effect.gen(function* () {
        const first = yield* open(session, id)
        yield* type(first, { data: "NAME=ann; echo hello-$NAME\n" })
        yield* until(first, /hello-ann/)
      })
    )
    const second = yield* open(session, id)
    yield* until(second, /hello-ann/)
    yield* type(second, { data: "echo again-$NAME\n" })
    yield* until(second, /again-ann/)
  })
)

it.scopedLive("two viewers see the same, and both learn the end", () =>
  Effect.gen(function* () {
    const { session } = yield* connectedAgent
    const id = randomUUID()
    const one = yield* open(session, id)
    yield* type(one, { data: "echo ready-$((1+1))\n" })
    yield* until(one, /ready-2/)
    const two = yield* open(session, id)
    yield* until(two, /ready-2/)
    yield* type(two, { data: "echo both-$((2+2))\n" })
    yield* Effect.all([until(one, /both-4/), until(two, /both-4/)], { concurrency: 2 })
    yield* type(one, { data: "exit\n" })
    yield* Effect.all([rest(one), rest(two)], { concurrency: 2 })
  })
)

it.scopedLive("a command runs in place of the shell, and its end ends the stream", () =>
  Effect.gen(function* () {
    const { session } = yield* connectedAgent
    expect(yield* rest(yield* open(session, randomUUID(), { Command: "echo one; exit 3" }))).toContain("one")
  })
)

it.scopedLive("a program waits while its only viewer does not read", () =>
  Effect.gen(function* () {
    const { session } = yield* connectedAgent
    const stream = yield* open(session, randomUUID(), { Command: "head -c 3000000 /dev/zero | tr '\\0' x; echo END; sleep 1000" })
    const other = yield* open(session, randomUUID(), { Command: "echo quick" })
    expect(yield* rest(other)).toContain("quick")
    expect((yield* until(stream, /END/)).length).toBeGreaterThanOrEqual(3_000_003)
  })
)

it.scopedLive("a viewer that reads late gets all that a program wrote before its end", () =>
  Effect.gen(function* () {
    const { session } = yield* connectedAgent
    const ended = join(tmpdir(), `atelier-${randomUUID()}`)
    yield* Effect.addFinalizer(() => Effect.promise(() => rm(ended, { force: true })))
    // More than the stream and the agent hold, so that the program has to wait
    const stream = yield* open(session, randomUUID(), { Command: `tty; seq 120000; echo the-end; : > ${ended}` })
    const [, terminal = ""] = /^(\S+)\r\n/.exec(yield* until(stream, /\n/)) ?? []
    let last = ""
    while (!existsSync(ended)) {
      // No faster than the program's last output needs to be written
      const chunk = yield* stream.read
      if (Option.isNone(chunk)) break
      last = (last + Buffer.from(chunk.value).toString()).slice(-20)
    }
    // The system removes a terminal that the agent has closed
    yield* Effect.repeat(
      Effect.sync(() => existsSync(terminal)),
      { while: Boolean, schedule: Schedule.spaced("10 millis") }
    )
    const left = yield* rest(stream)
    expect((last + left).slice(-9)).toBe("the-end\r\n")
  })
)

it.scopedLive("input that is no request ends the stream, and the terminal goes on", () =>
  Effect.gen(function* () {
    const { session } = yield* connectedAgent
    const id = randomUUID()
    const stream = yield* open(session, id)
    yield* type(stream, { data: "KEPT=yes; echo set-$KEPT\n" })
    yield* until(stream, /set-yes/)
    yield* stream.write(Buffer.from("nonsense"))
    yield* rest(stream)
    const again = yield* open(session, id)
    yield* type(again, { data: "echo still-$KEPT\n" })
    yield* until(again, /still-yes/)
  })
)

it.scopedLive("an agent that stops ends its terminals", () =>
  Effect.gen(function* () {
    const { session, stop } = yield* connectedAgent
    const stream = yield* open(session, randomUUID(), { Command: "echo up; sleep 1000" })
    yield* until(stream, /up/)
    const stopping = yield* Effect.fork(stop)
    yield* rest(stream)
    yield* Fiber.join(stopping)
  })
)
