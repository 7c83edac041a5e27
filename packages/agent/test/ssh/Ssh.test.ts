import { readFileSync, statfsSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Client, ClientChannel, ExecOptions } from "ssh2"
import { runAgent, serve } from "../TestServer.js"
import { connect } from "./connect.js"

/** An agent that is ready, and what its server is told. */
const readyAgent = (...[options, more]: [Parameters<typeof serve>[0]?, Parameters<typeof runAgent>[1]?]) =>
  Effect.gen(function* () {
    const server = yield* serve(options ?? {})
    const { home, stop } = yield* runAgent(server, { environment: { PATH: process.env["PATH"] ?? "", PS1: "$ ", ENV: "" }, ...more })
    yield* server.until(() => server.states().includes("READY"))
    return { home, server, session: yield* Effect.fromNullable(server.session()), stop }
  })

const exec = (client: Client, command: string, options: ExecOptions = {}): Effect.Effect<ClientChannel, Error> =>
  Effect.async((resume) => {
    client.exec(command, options, (error, channel) => resume(error === undefined ? Effect.succeed(channel) : Effect.fail(error)))
  })

const shell = (client: Client): Effect.Effect<ClientChannel, Error> =>
  Effect.async((resume) => {
    client.shell((error, channel) => resume(error === undefined ? Effect.succeed(channel) : Effect.fail(error)))
  })

/** Collects the outputs of a channel. */
const collected = (channel: ClientChannel) => {
  const of = { stdout: "", stderr: "" }
  let look = (): void => undefined
  channel.on("data", (bytes: Buffer) => {
    of.stdout += bytes.toString()
    look()
  })
  channel.stderr.on("data", (bytes: Buffer) => (of.stderr += bytes.toString()))
  const ended = new Promise<{ readonly code: number | null; readonly signal: string | undefined }>((resolve) =>
    channel.once("exit", (code: number | null, signal?: string) => channel.once("close", () => resolve({ code, signal })))
  )
  return {
    ended: Effect.map(
      Effect.promise(() => ended),
      (end) => ({ ...end, ...of })
    ),
    until: (pattern: RegExp) =>
      Effect.async<string>((resume) => {
        look = () => {
          if (pattern.test(of.stdout)) resume(Effect.succeed(of.stdout))
        }
        look()
      })
  }
}

/** Runs a command to its end. It is collected from the start, since all of a short one may arrive with the answer to its request. */
const ran = (client: Client, command: string) =>
  Effect.flatten(
    Effect.async<ReturnType<typeof collected>["ended"], Error>((resume) => {
      client.exec(command, (error, channel) => resume(error === undefined ? Effect.succeed(collected(channel).ended) : Effect.fail(error)))
    })
  )

/** Whether a process runs. One that is over may wait for a parent that never asks. */
const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, "utf8"))
  } catch {
    return false
  }
}

it.scopedLive("a command ends with its status, or with the signal that ended it", () =>
  Effect.gen(function* () {
    const { session } = yield* readyAgent()
    const client = yield* connect(session)
    const run = (command: string) => ran(client, command)
    expect(yield* run("echo out; echo err >&2; exit 7")).toMatchObject({ code: 7, stdout: "out\n", stderr: "err\n" })
    expect(yield* run("kill -9 $$")).toMatchObject({ code: null, signal: "SIGKILL" })
    const asked = yield* exec(client, "echo up; exec sleep 1000")
    const sleeping = collected(asked)
    yield* sleeping.until(/up/)
    asked.signal("TERM")
    expect(yield* sleeping.ended).toMatchObject({ code: null, signal: "SIGTERM" })
  })
)

it.scopedLive("a large output and large errors arrive whole, whichever is read first", () =>
  Effect.gen(function* () {
    const { session } = yield* readyAgent()
    const channel = yield* exec(yield* connect(session), "head -c 6000000 /dev/zero & head -c 6000000 /dev/zero >&2; wait")
    const { ended } = collected(channel)
    const { stderr, stdout } = yield* ended
    expect([stdout.length, stderr.length]).toStrictEqual([6_000_000, 6_000_000])
  })
)

it.scopedLive("a login shell greets, and has the size and the type of its terminal", () =>
  Effect.gen(function* () {
    const announcement_banners = [{ enabled: true, message: "Maintenance tonight.", background_color: "" }]
    const { home, session } = yield* readyAgent({
      manifest: { motd_path: "~/motd" },
      handlers: { GetAnnouncementBanners: () => Effect.succeed({ announcement_banners }) }
    })
    writeFileSync(join(home, "motd"), "Be kind.\n")
    const channel = yield* shell(yield* connect(session))
    const { ended, until } = collected(channel)
    channel.setWindow(33, 111, 0, 0)
    channel.write("stty size; echo $TERM\n")
    const text = yield* until(/33 111[^]*vt100/)
    expect(text).toContain("Maintenance tonight.\r\nBe kind.\r\n")
    channel.write("exit 4\n")
    expect(yield* ended).toMatchObject({ code: 4 })
  })
)

it.scopedLive("a session takes the variables of languages and editors, and counts as what uses it", () =>
  Effect.gen(function* () {
    const { server, session } = yield* readyAgent()
    const env = { LC_ALL: "C.UTF-8", GIT_PROTOCOL: "version=2", LD_PRELOAD: "/none", SERVICE_SSH_SESSION_TYPE: "vscode" }
    const channel = yield* exec(yield* connect(session), "echo $LC_ALL $GIT_PROTOCOL [$LD_PRELOAD$SERVICE_SSH_SESSION_TYPE]; cat", { env })
    yield* Effect.flatMap(connect(session, { client: "jetbrains" }), (client) => exec(client, "cat"))
    const { until } = collected(channel)
    expect(yield* until(/\n/)).toBe("C.UTF-8 version=2 []\n")
    const counts = () => server.of("UpdateStats").map(({ request }) => request.stats)
    yield* server.until(() => counts().some((stats) => stats?.session_count_vscode === 1 && stats.session_count_jetbrains === 1))
    channel.end()
    yield* server.until(() => counts().at(-1)?.session_count_vscode === 0)
  })
)

it.scopedLive("a workspace without a shell says so", () =>
  Effect.gen(function* () {
    const { session } = yield* readyAgent({}, { shell: "/no/shell" })
    const client = yield* connect(session)
    expect(yield* ran(client, "true")).toMatchObject({
      code: 127,
      stderr: "The workspace has no shell: /no/shell is not found. Files can be copied by SFTP.\r\n"
    })
  })
)

it.scopedLive("files have posix-rename, statvfs, hardlink and fsync", () =>
  Effect.gen(function* () {
    const { home, session } = yield* readyAgent()
    const client = yield* connect(session)
    const sftp = yield* Effect.tryPromise(() => promisify(client.sftp.bind(client))())
    const [one, two, three] = ["one", "two", "three"].map((name) => join(home, name)) as [string, string, string]
    writeFileSync(one, "first")
    writeFileSync(two, "second")
    const asked = <A>(ask: (done: (error?: Error | null, value?: A) => void) => unknown): Effect.Effect<A | undefined, Error> =>
      Effect.async((resume) => {
        ask((error, value) => resume(error === null || error === undefined ? Effect.succeed(value) : Effect.fail(error)))
      })
    // The usual rename replaces nothing
    expect((yield* Effect.flip(asked((done) => sftp.rename(one, two, done)))).message).toContain("EEXIST")
    yield* asked((done) => sftp.ext_openssh_rename(one, two, done))
    expect(readFileSync(two, "utf8")).toBe("first")
    yield* asked((done) => sftp.ext_openssh_hardlink(two, three, done))
    expect([statSync(three).ino, statSync(three).nlink]).toStrictEqual([statSync(two).ino, 2])
    const handle = (yield* asked<Buffer>((done) => sftp.open(three, "r+", done))) ?? Buffer.of()
    yield* asked((done) => sftp.ext_openssh_fsync(handle, done))
    const { bsize, blocks } = statfsSync(home)
    // The types of the library leave the answer out
    expect(yield* asked<unknown>((done) => sftp.ext_openssh_statvfs(home, done as never))).toMatchObject({
      f_frsize: bsize,
      f_blocks: blocks
    })
    expect((yield* Effect.flip(asked((done) => sftp.ext_openssh_hardlink(join(home, "none"), one, done)))).message).toMatch(/no such file/i)
  })
)

it.scopedLive("what a session runs ends with its connection, unless it ignores the hang-up", () =>
  Effect.gen(function* () {
    const { session } = yield* readyAgent()
    const pids = yield* Effect.scoped(
      Effect.gen(function* () {
        const channel = yield* exec(
          yield* connect(session),
          // What ignores the hang-up tells its own id, once it does
          "echo $$; sleep 1000 & echo $!; nohup sh -c 'echo $$; exec sleep 1000 >/dev/null' 2>/dev/null & wait"
        )
        const text = yield* collected(channel).until(/\d+\n\d+\n\d+\n/)
        return text.trim().split("\n").map(Number)
      })
    )
    const [leader = 0, child = 0, staying = 0] = pids
    yield* Effect.addFinalizer(() => Effect.sync(() => isRunning(staying) && process.kill(staying, "SIGKILL")))
    yield* Effect.repeat(Effect.sleep(20), { while: () => isRunning(child) || isRunning(leader) })
    expect(isRunning(staying)).toBe(true)
  })
)

it.scopedLive("all that sessions have left behind ends with the agent", () =>
  Effect.gen(function* () {
    const { session, stop } = yield* readyAgent()
    const channel = yield* exec(yield* connect(session), "setsid sleep 1000 >/dev/null 2>&1 & echo $!")
    const { stdout } = yield* collected(channel).ended
    const pid = Number(stdout)
    expect(isRunning(pid)).toBe(true)
    yield* stop
    yield* Effect.repeat(Effect.sleep(20), { while: () => isRunning(pid) })
  })
)

it.scopedLive("forwards and channels beyond their bounds are refused", () =>
  Effect.gen(function* () {
    const { session } = yield* readyAgent()
    const client = yield* connect(session)
    const forward = Effect.async<number, Error>((resume) => {
      client.forwardIn("localhost", 0, (error, port) => resume(error === undefined ? Effect.succeed(port) : Effect.fail(error)))
    })
    const ports = yield* Effect.replicateEffect(forward, 64)
    expect(new Set(ports).size).toBe(64)
    expect(yield* Effect.flip(forward)).toBeInstanceOf(Error)
  })
)
