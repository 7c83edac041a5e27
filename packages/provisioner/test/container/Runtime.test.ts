/** The agent in images of all kinds, on a real Docker daemon. */
import { execFile, spawn } from "node:child_process"
import { createHash, randomUUID } from "node:crypto"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { readFile, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
import { createInterface } from "node:readline"
import { pipeline } from "node:stream/promises"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { extract, pack } from "tar-stream"
import { aScript, serve } from "../../../agent/test/TestServer.js"
import { agentCommand, awaitAgent } from "../../src/container/AgentStart.js"
import { runtimeArchive } from "../../src/container/runtime/RuntimeArchive.js"

const run = promisify(execFile)

const isBuilt = existsSync(createRequire(import.meta.url).resolve("@atelier/agent/main"))

describe.skipIf(process.platform !== "linux" || !isBuilt)("the runtime of an agent", () => {
  it.live("is the same archive each time, and holds all that the agent's Node needs", () =>
    Effect.gen(function* () {
      const digest = async (tar: NodeJS.ReadableStream) => {
        const hash = createHash("sha256")
        await pipeline(tar, hash)
        return hash.digest("hex")
      }
      const one = yield* runtimeArchive()
      const other = yield* runtimeArchive()
      expect(one.version).toBe(other.version)
      const [first, second] = yield* Effect.promise(() => Promise.all([digest(one.tar()), digest(other.tar())]))
      expect(first).toBe(second)
      const names: Array<string> = []
      yield* Effect.promise(async () => {
        const reader = extract()
        const reading = pipeline(one.tar(), reader)
        for await (const entry of reader) {
          names.push(entry.header.name)
          entry.resume()
        }
        await reading
      })
      expect(names).toEqual(expect.arrayContaining(["agent.js", "bin/node", "lib/ld.so", "package.json"]))
      expect(names.some((name) => name.endsWith(".node"))).toBe(true)
    })
  )

  it.live("is refused where a folder holds none", () =>
    Effect.gen(function* () {
      const folder = mkdtempSync(join(tmpdir(), "runtime-"))
      const failure = yield* Effect.flip(runtimeArchive({ directory: folder }))
      rmSync(folder, { recursive: true })
      expect(failure.message).toBe(`the agent's runtime in ${folder} has no agent.js, bin/node, lib/ld.so`)
    })
  )
})

const host = process.env["ATELIER_TEST_DOCKER_HOST"]
const busybox = "/bin/busybox"
if (host === undefined) process.stderr.write("ATELIER_TEST_DOCKER_HOST is not set: the agent is not started in containers\n")
else if (!existsSync("/usr/bin/musl-gcc")) process.stderr.write("musl-gcc is not installed: the agent is not started beside musl\n")

const docker = async (...args: ReadonlyArray<string>): Promise<string> => (await run("docker", ["-H", host ?? "", ...args])).stdout.trim()

/** Makes an image of files. */
const importImage = async (name: string, files: Readonly<Record<string, Buffer | string>>): Promise<void> => {
  const packing = pack()
  for (const [path, content] of Object.entries(files)) packing.entry({ name: path, mode: 0o755 }, content)
  packing.entry({ name: "tmp/", type: "directory", mode: 0o1777 })
  packing.finalize()
  const tar = await buffer(packing)
  await new Promise<void>((resolve, reject) => {
    const child = spawn("docker", ["-H", host ?? "", "import", "-", name], { stdio: ["pipe", "ignore", "inherit"] })
    child.once("error", reject).once("exit", (code) => (code === 0 ? resolve() : reject(new Error(`docker import: ${code}`))))
    child.stdin.end(tar)
  })
}

/** The files of a program that is linked dynamically, by their paths. */
const programWithLibraries = async (program: string, path: string): Promise<Readonly<Record<string, Buffer>>> => {
  const { stdout } = await run("ldd", [program])
  const libraries = stdout.match(/\/[^ )]+/g) ?? []
  const files = [
    [path, await readFile(program)] as const,
    ...(await Promise.all(libraries.map(async (file) => [file.slice(1), await readFile(file)] as const)))
  ]
  return Object.fromEntries(files)
}

/** The C library of Alpine and its kind, where this machine has its compiler. */
const hasMusl = existsSync("/usr/bin/musl-gcc")

/** Programs that need musl's loader: a shell that becomes another one, and `env`. */
const muslPrograms = {
  "bin/sh": '#include <unistd.h>\nint main(int count, char **words) { words[0] = "sh"; execv("/bin/ash", words); return 126; }\n',
  "usr/bin/env":
    "#include <stdio.h>\nextern char **environ;\nint main(void) { for (char **one = environ; *one; one++) puts(*one); return 0; }\n"
}

/** The files of an image whose programs are linked with musl. */
const muslFiles = async (): Promise<Readonly<Record<string, Buffer>>> => {
  const folder = mkdtempSync(join(tmpdir(), "musl-"))
  const files: Record<string, Buffer> = {}
  for (const [path, source] of Object.entries(muslPrograms)) {
    await writeFile(join(folder, "program.c"), source)
    await run("musl-gcc", ["-o", join(folder, "program"), join(folder, "program.c")])
    files[path] = await readFile(join(folder, "program"))
    const { stdout } = await run("readelf", ["-l", join(folder, "program")])
    const loader = /interpreter: (\/[^\]]+)/.exec(stdout)?.[1] ?? ""
    expect(loader).toContain("musl")
    files[loader.slice(1)] = await readFile(loader)
  }
  rmSync(folder, { recursive: true })
  return files
}

const hexOf = (bytes: Uint8Array = new Uint8Array(0)): string => Buffer.from(bytes).toString("hex")

const users = "root:x:0:0:root:/root:/bin/sh\nann:x:1234:1234:Ann:/home/ann:/bin/sh\n"

describe.skipIf(host === undefined || !isBuilt || !existsSync(busybox))("an agent", () => {
  const id = randomUUID().slice(0, 8)
  const volume = `atelier-runtime-test-${id}`
  const images = { glibc: `${volume}-glibc`, static: `${volume}-static`, musl: `${volume}-musl`, empty: `${volume}-empty` }

  beforeAll(async () => {
    const dash = await programWithLibraries("/bin/dash", "bin/sh")
    const env = await programWithLibraries("/usr/bin/env", "usr/bin/env")
    const shell = await readFile(busybox)
    await importImage(images.glibc, { ...dash, ...env, "etc/passwd": users })
    await importImage(images.static, { "bin/sh": shell, "usr/bin/env": shell, "etc/passwd": users })
    await importImage(images.musl, { "bin/ash": shell, "etc/passwd": users, ...(hasMusl ? await muslFiles() : {}) })
    await importImage(images.empty, { "usr/bin/env": shell })
    const { tar } = await Effect.runPromise(runtimeArchive())
    const filler = await docker("create", "--label", volume, "-v", `${volume}:/opt/atelier`, images.empty, "/none")
    const copying = spawn("docker", ["-H", host ?? "", "cp", "-", `${filler}:/opt/atelier`], { stdio: ["pipe", "ignore", "inherit"] })
    const copied = new Promise((resolve) => copying.once("exit", resolve))
    await pipeline(tar(), copying.stdin)
    expect(await copied).toBe(0)
    await docker("rm", filler)
  }, 60_000)

  afterAll(async () => {
    const left = await docker("ps", "-aq", "--filter", `label=${volume}`)
    if (left !== "") await docker("rm", "-f", ...left.split("\n"))
    await docker("volume", "rm", "-f", volume)
    await docker("rmi", "-f", ...Object.values(images))
  }, 60_000)

  /** Starts an agent in a container, and returns the container's id. */
  const start = (image: string, url: string, options: ReadonlyArray<string> = []) =>
    Effect.acquireRelease(
      Effect.promise(() => {
        const place = ["--network", "host", "--label", volume, "-v", `${volume}:/opt/atelier:ro`]
        const variables = [`SERVICE_AGENT_URL=${url}`, "SERVICE_AGENT_TOKEN=the-token", "SERVICE_AGENT_TELL_START=true"]
        return docker("run", "-d", ...place, ...options, ...variables.flatMap((variable) => ["-e", variable]), image, ...agentCommand())
      }),
      (container) => Effect.promise(() => docker("rm", "-f", container))
    )

  it.scopedLive.each([
    ["glibc", "1234:1234", { HOME: "/home/ann", USER: "ann", SHELL: "/bin/sh" }],
    ...(hasMusl ? [["musl", "1234:1234", { HOME: "/home/ann", USER: "ann", SHELL: "/bin/sh" }] as const] : []),
    ["static", "1234:1234", { HOME: "/home/ann", USER: "ann", SHELL: "/bin/sh" }],
    ["static", "4321:4321", { HOME: "/", USER: "4321", SHELL: "/bin/sh" }]
  ] as const)(
    "runs scripts in the environment of an image of kind %s as %s",
    ([kind, user, variables]) =>
      Effect.gen(function* () {
        const script = aScript("/usr/bin/env")
        const server = yield* serve({ manifest: { scripts: [script] } })
        const container = yield* start(images[kind], server.url.href, ["--user", user, "-e", "PATH=/usr/bin:/bin"])
        yield* server.until(() => server.of("ScriptCompleted").length > 0)
        yield* server.until(() => server.lines(script.log_source_id).some(({ output }) => output.startsWith("PATH=")))
        const environment = Object.fromEntries(
          server.lines(script.log_source_id).map(({ output }) => [output.replace(/=.*/s, ""), output.replace(/^[^=]*=/, "")] as const)
        )
        expect(environment).toMatchObject({ ...variables, PATH: "/usr/bin:/bin" })
        expect(Object.entries(environment).filter(([name, value]) => name.startsWith("LD_") || value.includes("/opt/atelier"))).toEqual([])
        yield* Effect.promise(() => docker("stop", "-t", "20", container))
        expect(yield* Effect.promise(() => docker("inspect", "-f", "{{.State.ExitCode}}", container))).toBe("0")
      }),
    60_000
  )

  it.scopedLive(
    "says what an image without a shell lacks",
    () =>
      Effect.gen(function* () {
        const script = aScript("echo never")
        const program = aScript("#!/usr/bin/env ls\n")
        const server = yield* serve({ manifest: { scripts: [script, program] } })
        yield* start(images.empty, server.url.href)
        yield* server.until(() => server.lines(script.log_source_id).length > 0)
        expect(server.lines(script.log_source_id).map(({ output }) => output)).toEqual(["Cannot start: /bin/sh is not found (ENOENT)"])
        yield* server.until(() => server.of("ScriptCompleted").length === 2)
        const codes = new Map(server.of("ScriptCompleted").map(({ request: { timing } }) => [hexOf(timing?.script_id), timing?.exit_code]))
        expect([codes.get(hexOf(script.id)), codes.get(hexOf(program.id))]).toEqual([127, 0])
      }),
    60_000
  )

  it.scopedLive(
    "tells why it does not reach the service",
    () =>
      Effect.gen(function* () {
        const container = yield* start(images.empty, "http://127.0.0.1:1")
        const lines = Stream.acquireRelease(
          Effect.sync(() => spawn("docker", ["-H", host ?? "", "logs", "-f", container], { stdio: ["ignore", "pipe", "ignore"] })),
          (child) => Effect.sync(() => child.kill())
        ).pipe(
          Stream.flatMap(({ stdout }) => Stream.fromAsyncIterable(createInterface(stdout), (cause) => cause)),
          Stream.takeUntil((line) => line.startsWith('{"agent"')),
          Stream.concat(Stream.never)
        )
        expect(yield* awaitAgent(lines, "5 seconds")).toMatchObject({
          _tag: "Unreachable",
          cause: expect.stringContaining("connection refused")
        })
      }),
    60_000
  )
})
