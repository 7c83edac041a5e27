import { realpathSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { folder, runAgent, serve } from "../TestServer.js"
import { call } from "./machineClient.js"
import { isAlive, numberIn, untilGone } from "./processes.js"

/** The session with an agent, and the folder of its user. */
const anAgent = Effect.gen(function* () {
  const home = yield* folder
  const server = yield* serve({ manifest: { directory: "project", environment_variables: new Map([["TEMPLATE", "from the template"]]) } })
  yield* runAgent(server, { homeDirectory: home, environment: { PATH: process.env["PATH"] ?? "", HOME: home } })
  yield* server.until(() => server.states().includes("READY"))
  return { session: yield* Effect.fromNullable(server.session()), home }
})

it.scopedLive("a command runs where and with what a login would", () =>
  Effect.gen(function* () {
    const { home, session } = yield* anAgent
    const { body, status } = yield* call(session, "POST", "/exec", { command: "pwd; echo $TEMPLATE $OWN; tty", env: { OWN: "own" } })
    expect([status, body]).toMatchObject([200, { exit_code: 1, signal: null, stderr: "", timed_out: false }])
    expect((body as { stdout: string }).stdout).toBe(`${realpathSync(home)}/project\nfrom the template own\nnot a tty\n`)
    const elsewhere = yield* call(session, "POST", "/exec", { program: "pwd", cwd: ".." })
    expect(elsewhere.body).toMatchObject({ exit_code: 0, stdout: `${realpathSync(home)}\n` })
  })
)

it.scopedLive("input and output may be any bytes", () =>
  Effect.gen(function* () {
    const { session } = yield* anAgent
    const bytes = Buffer.from([0, 255, 10, 128]).toString("base64")
    expect((yield* call(session, "POST", "/exec", { program: "cat", stdin: bytes, encoding: "base64" })).body).toMatchObject({
      exit_code: 0,
      stdout: bytes
    })
  })
)

it.scopedLive("output beyond its bound is cut, and its program goes on", () =>
  Effect.gen(function* () {
    const { session } = yield* anAgent
    const before = process.memoryUsage().rss
    const { body } = yield* call(session, "POST", "/exec", {
      command: "head -c 200000000 /dev/zero; printf 'é' >&2",
      max_output_bytes: 1
    })
    expect(body).toMatchObject({ exit_code: 0, stdout: "\0", stdout_truncated: true, stderr: "", stderr_truncated: true })
    expect(process.memoryUsage().rss - before).toBeLessThan(128 * 1024 * 1024)
  })
)

it.scopedLive("a command ends with its time, and its group with it", () =>
  Effect.gen(function* () {
    const { home, session } = yield* anAgent
    const file = join(home, "pid")
    const command = `sleep 1000 & echo $! > ${file}; wait`
    const { body } = yield* call(session, "POST", "/exec", { command, timeout_ms: 500 })
    expect(body).toMatchObject({ exit_code: null, signal: "SIGTERM", timed_out: true })
    yield* untilGone(yield* numberIn(file))
  })
)

it.scopedLive("a command ends when its client goes away, with what has left its group", () =>
  Effect.gen(function* () {
    const { home, session } = yield* anAgent
    const file = join(home, "pid")
    const escaped = `setsid sh -c 'echo $$ > ${file}; exec sleep 1000' & wait`
    const calling = yield* Effect.fork(call(session, "POST", "/exec", { command: escaped }))
    const pid = yield* numberIn(file)
    expect(isAlive(pid)).toBe(true)
    yield* Fiber.interrupt(calling)
    yield* untilGone(pid)
  })
)

it.scopedLive("a process that a command leaves behind goes on", () =>
  Effect.gen(function* () {
    const { session } = yield* anAgent
    const { body } = yield* call(session, "POST", "/exec", { command: "sleep 1000 & echo $!" })
    const pid = Number((body as { stdout: string }).stdout)
    expect([(body as { exit_code: number }).exit_code, isAlive(pid)]).toStrictEqual([0, true])
  })
)

it.scopedLive("a program that cannot be started is refused with the reason", () =>
  Effect.gen(function* () {
    const { session } = yield* anAgent
    const refused = (body: object) =>
      Effect.map(call(session, "POST", "/exec", body), ({ body, status }) => [
        status,
        (body as { validations?: ReadonlyArray<{ field: string; detail: string }> }).validations?.[0]
      ])
    expect(yield* refused({ program: "no-such-program" })).toStrictEqual([
      400,
      { field: "program", detail: "no-such-program is not found" }
    ])
    expect(yield* refused({ program: "true", cwd: "/nowhere" })).toStrictEqual([
      400,
      { field: "cwd", detail: "/nowhere is not a directory" }
    ])
    expect(yield* refused({ program: "/etc/passwd" })).toStrictEqual([400, { field: "program", detail: "/etc/passwd may not be executed" }])
    expect(yield* refused({})).toMatchObject([400, { field: "program" }])
    expect(yield* refused({ program: "true", command: "true" })).toMatchObject([400, { field: "program" }])
    expect(yield* refused({ program: "true", args: ["x".repeat(3_000_000)] })).toMatchObject([400, { field: "args" }])
    expect(yield* refused({ program: "true", args: ["\0"] })).toStrictEqual([400, undefined])
    expect(yield* refused({ program: "true", timeout_ms: 3_600_001 })).toMatchObject([400, { field: "timeout_ms" }])
  })
)

it.scopedLive("processes beyond the server's limit are refused, until one ends", () =>
  Effect.gen(function* () {
    const { session } = yield* anAgent
    const limit = { "x-limit-processes": "3" }
    const start = call(session, "POST", "/processes", { program: "sleep", args: ["1000"] }, limit)
    const started = yield* Effect.all(
      Array.from({ length: 20 }, () => start),
      { concurrency: "unbounded" }
    )
    expect(started.map(({ status }) => status).toSorted()).toStrictEqual([
      ...Array.from({ length: 3 }, () => 201),
      ...Array.from({ length: 17 }, () => 429)
    ])
    expect(yield* call(session, "POST", "/exec", { program: "true" }, limit)).toMatchObject({
      status: 429,
      body: { message: "At most 3 processes may run at a time. End one, or wait for the end of one." }
    })
    const [first] = started.filter(({ status }) => status === 201)
    yield* call(session, "DELETE", `/processes/${(first as { readonly body: { readonly id: string } }).body.id}`)
    expect(yield* call(session, "POST", "/exec", { program: "true" }, limit)).toMatchObject({ status: 200 })
  })
)

it.scopedLive("a command whose process goes on in the background keeps its place until that ends", () =>
  Effect.gen(function* () {
    const { session } = yield* anAgent
    const exec = (body: object) => call(session, "POST", "/exec", body, { "x-limit-processes": "1" })
    const { body } = yield* exec({ command: "setsid sleep 1000 >/dev/null 2>&1 & echo $!" })
    const pid = Number((body as { stdout: string }).stdout)
    expect((yield* exec({ program: "true" })).status).toBe(429)
    process.kill(pid, "SIGKILL")
    yield* untilGone(pid)
    expect((yield* exec({ program: "true" })).status).toBe(200)
    expect((yield* exec({ program: "true" })).status).toBe(200)
  })
)
