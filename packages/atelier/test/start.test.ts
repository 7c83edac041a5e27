/** What the standalone server says when it cannot start. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { request } from "node:http"
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { fileURLToPath, pathToFileURL } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { flagsOf } from "../../../scripts/flags.mjs"
import { tellsRejection } from "../../../test/run/compiledCode.js"
import { words } from "../src/words.js"
import { freePort, Server } from "./Server.js"

const program = fileURLToPath(new URL("../dist/program.cjs", import.meta.url))

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "atelier-start-"))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

/** Runs the server until it gives up. */
const refusalOf = async (
  args: ReadonlyArray<string>,
  flags: ReadonlyArray<string> = [],
  variables: Readonly<Record<string, string>> = {}
) => {
  const env = { ...process.env, XDG_DATA_HOME: directory, ...variables }
  const child = spawn(process.execPath, [...flags, program, ...args], { cwd: directory, stdio: ["ignore", "ignore", "pipe"], env })
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "exit")])
  return { code, said }
}

const loader = new URL("../../../scripts/bundle/load.mjs", import.meta.url).href

/** What a module prints. */
const printed = (source: string, flags: ReadonlyArray<string> = []) =>
  text(spawn(process.execPath, [...flags, "--input-type=module", "-e", source], { stdio: ["ignore", "pipe", "inherit"] }).stdout)

const checkout = new URL("../../../", import.meta.url)

/** Node 20 takes no least size of the young generation from its environment. */
const inEnvironment = flagsOf(checkout).filter((flag) => process.allowedNodeEnvironmentFlags.has(flag.replace(/=.*/, "")))

describe("the compiled code that the build kept", () => {
  it.each([
    ["as other programs start it", [], ""],
    ["as `npm start` does", flagsOf(checkout), ""],
    ["for many downloads", ["--max-semi-space-size=32", "--min-semi-space-size=16"], ""],
    ["with the flags of `npm start` in the environment, where Node takes them there", [], inEnvironment.join(" ")]
  ])("is taken by a server that is started %s", async (_, flags, variable) => {
    const env = { ...process.env, NODE_OPTIONS: variable }
    const child = spawn(process.execPath, [...flags, tellsRejection, program, "serve", "--help"], {
      stdio: ["ignore", "ignore", "pipe"],
      env
    })
    expect(await text(child.stderr)).toBe("rejected: false\n")
  })

  // What Node says of itself differs from version to version
  it.runIf(process.version.startsWith("v20."))("is taken of Node's own modules too, as `npm start` starts it", async () => {
    const preload = join(directory, "preload.cjs")
    await writeFile(
      preload,
      `const { internalBinding } = require("internal/test/binding")
       const { getCacheUsage } = internalBinding("builtins")
       process.once("exit", () => process.stderr.write([...getCacheUsage().compiledWithoutCache].join("\\n")))`
    )
    const { said } = await refusalOf(
      ["serve", "--help"],
      [...flagsOf(checkout), "--no-warnings", "--expose-internals", "--require", preload]
    )
    const loaded = ["child_process", "crypto", "dns", "fs/promises", "http", "net", "os", "timers/promises", "tls", "vm"]
    expect(loaded.filter((name) => said.split("\n").includes(name))).toStrictEqual([])
  })

  it("is not taken for a script that was changed in place, at equal length", async () => {
    const script = pathToFileURL(join(directory, "patched.cjs")).href
    const look = `
      import { writeFileSync } from "node:fs"
      const { cacheOf, kept, load } = await import("${loader}")
      const url = new URL("${script}")
      writeFileSync(url, "(function (module, exports) { exports.answer = 'old' })")
      writeFileSync(cacheOf(url), kept(url, load(url, import.meta).script.createCachedData()))
      const same = load(url, import.meta).script.cachedDataRejected
      writeFileSync(url, "(function (module, exports) { exports.answer = 'new' })")
      console.log(same, load(url, import.meta).exports.answer)
    `
    expect(await printed(look)).toBe("false new\n")
  })
})

it("a start collects the heap as a whole only once it answers, or takes long", async () => {
  const flags = new URL("../dist/startFlags.js", import.meta.url).href
  const look = (end: string) => `
    import { constants, PerformanceObserver } from "node:perf_hooks"
    import { mock } from "node:test"
    import { setImmediate as turn } from "node:timers/promises"
    import { begin, end } from "${flags}"
    mock.timers.enable({ apis: ["setTimeout"] })
    let whole = 0
    const { NODE_PERFORMANCE_GC_MAJOR } = constants
    new PerformanceObserver((list) => {
      whole += list.getEntries().filter(({ detail }) => detail.kind === NODE_PERFORMANCE_GC_MAJOR).length
    }).observe({ entryTypes: ["gc"] })
    const kept = []
    const work = async () => {
      for (let round = 0; round < 40; round++) {
        for (let made = 0; made < 20_000; made++) kept.push({ made })
        await turn()
      }
      return whole
    }
    begin()
    const during = await work()
    ${end}
    console.log(during, (await work()) > 0)
  `
  const said = await Promise.all(["end()", "mock.timers.tick(2_000)"].map((end) => printed(look(end))))
  // Node 22 collects it in a start all the same
  const expected = process.version.startsWith("v22.") ? /^\d+ true\n$/ : /^0 true\n$/
  expect(said).toStrictEqual([expect.stringMatching(expected), expect.stringMatching(expected)])
})

it("--version prints the version and starts nothing", async () => {
  const child = spawn(process.execPath, [program, "--version"], { cwd: directory, stdio: ["ignore", "pipe", "inherit"] })
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, "exit")])
  expect({ code, said }).toStrictEqual({ code: 0, said: expect.stringMatching(/^Atelier \d+\.\d+\.\d+\n$/) })
})

it("serves with the word `serve`, from a data directory that it makes for its owner alone", async () => {
  const data = join(directory, "new", "data")
  const server = await Server.launch(
    ["serve", "--http-address", "127.0.0.1:0", "--data-directory", data, "--drain-grace", "0"],
    /^Atelier listens on (http:\/\/127\.0\.0\.1:\d+)/
  )
  expect((await stat(data)).mode & 0o777).toBe(0o700)
  expect(server.log).toMatch(/\n +http:\S+\/setup\?token=\w{32}\n/)
  expect(await server.stop()).toBe(0)
  expect((await readdir(data)).filter((name) => !name.includes("-"))).toStrictEqual(["atelier.db", "workspaces"])
})

describe("a command line", () => {
  const said = async (words: ReadonlyArray<string>, variables: Readonly<Record<string, string>> = {}) => {
    const env = { PATH: process.env["PATH"] ?? "", ...variables }
    const child = spawn(process.execPath, [program, ...words], { cwd: directory, stdio: ["ignore", "pipe", "pipe"], env })
    const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")])
    return { code, text: (out + error).split("\n")[0] }
  }

  it("that asks for help alone fits on a screen, and leads to every command and option", async () => {
    const help = await text(spawn(process.execPath, [program, "--help"], { stdio: ["ignore", "pipe", "inherit"] }).stdout)
    const lines = help.split("\n")
    expect([lines.length < 40, lines.every(({ length }) => length <= 80)]).toStrictEqual([true, true])
    for (const word of Object.keys(words)) expect(help).toMatch(new RegExp(`^  ${word} +\\S`, "m"))
    expect(help).toContain('"atelier help" lists them')
    expect(help).toContain('"atelier serve --help" lists all options')
  })

  it("that asks for help is told the command as its user wrote it", async () => {
    const start = { npm_lifecycle_event: "start", npm_lifecycle_script: "node scripts/start.cjs" }
    expect(await said(["--help"])).toStrictEqual({ code: 0, text: "Usage: atelier [COMMAND] [options]" })
    expect(await said(["serve", "--help"], start)).toStrictEqual({ code: 0, text: "Usage: npm start -- [serve] [options]" })
    expect(await said(["proxy", "--help"], { npm_lifecycle_event: "npx", npm_lifecycle_script: "atelier" })).toStrictEqual({
      code: 0,
      text: "Usage: npx atelier proxy [options]"
    })
    expect(await said(["provisionerd", "--engine", "docker", "--engine", "kubernetes", "--help"])).toStrictEqual({
      code: 0,
      text: "Usage: atelier provisionerd --url URL --key KEY [--engine ENGINE] …"
    })
  })

  it("of a daemon without a credential is refused", async () => {
    expect(await said(["provisionerd"])).toStrictEqual({ code: 2, text: "A credential is missing: give a provisioner key with --key." })
  })
})

it("a loopback server wants its token from callers that use another name", async () => {
  const server = await Server.start({
    port: 0,
    database: `sqlite:${join(directory, "first.db")}`,
    workspacesDirectory: join(directory, "first-workspaces")
  })
  try {
    const body = JSON.stringify({ email: "ada@example.com", username: "ada", password: "SomeSecurePassword!" })
    const create = async (headers: Readonly<Record<string, string>>) => {
      const sent = request(`${server.url}/api/v2/users/first`, { method: "POST", headers, agent: false }).end(body)
      const [response] = await once(sent, "response")
      response.resume()
      return response.statusCode
    }
    expect(await create({ host: "rebound.example", origin: "http://rebound.example" })).toBe(403)
    expect(server.log).toMatch(/\n +http:\S+\/setup\?token=\w{32}\n/)
    expect(await create({})).toBe(201)
    const call = async (path: string, init: RequestInit): Promise<unknown> => (await fetch(`${server.url}/api/v2${path}`, init)).json()
    const session = await call("/users/login", { method: "POST", body })
    expect(session).toMatchObject({ session_token: expect.any(String) })
    const { session_token } = session as { readonly session_token: string }
    // The address that the server has found for itself
    expect(await call("/deployment/config", { headers: { "service-session-token": session_token } })).toMatchObject({
      config: { access_url: server.url }
    })
  } finally {
    await server.stop()
  }
})

describe("a server that cannot start", () => {
  it("refuses a database file in use by another server, which continues", async () => {
    const database = `sqlite:${join(directory, "atelier.db")}`
    const first = await Server.start({ port: await freePort(), database, workspacesDirectory: join(directory, "workspaces") })
    try {
      // The same directory of workspaces too, for whose owner a server waits
      const second = ["--http-address", "127.0.0.1:0", "--database", database, "--workspaces-directory", join(directory, "workspaces")]
      expect(await refusalOf(second)).toStrictEqual({
        code: 1,
        said: `The server could not start: --database "${join(directory, "atelier.db")}": another server uses it: stop it first, or use PostgreSQL, which takes several servers\n`
      })
      const taken = new URL(first.url).host
      expect(await refusalOf(["--http-address", taken, "--database", "sqlite::memory:"])).toStrictEqual({
        code: 1,
        said: `The server could not start: --http-address "${taken}": another program listens there: end it, or give another address\n`
      })
      expect((await fetch(`${first.url}/api/v2/buildinfo`)).status).toBe(200)
    } finally {
      expect(await first.stop()).toBe(0)
    }
  })

  it("serves no plain HTTP as a workspace proxy that is asked for TLS", async () => {
    const address = ["--http-address", "127.0.0.1:0", "--access-url", "https://a.test", "--primary-access-url", "https://b.test"]
    expect(await refusalOf(["proxy", ...address, "--token", "x"], [], { ATELIER_TLS_ENABLE: "true" })).toStrictEqual({
      code: 2,
      said: "ATELIER_TLS_ENABLE is for the server: a workspace proxy speaks HTTP behind a TLS proxy (proxy --help lists the options)\n"
    })
  })

  it("says one sentence about a command line that cannot be used", async () => {
    expect(await refusalOf(["--port", "3000"])).toStrictEqual({
      code: 2,
      said: "There is no option --port: write --http-address 127.0.0.1:PORT (serve --help lists the options)\n"
    })
  })

  it("names a Node that is too old before anything else", async () => {
    const old = `data:text/javascript,Object.defineProperty(process.versions, "node", { value: "20.18.3" })`
    expect(await refusalOf(["--port", "3000"], ["--import", old])).toStrictEqual({
      code: 1,
      said: "Node.js 20.18.3 is too old: Atelier needs >=20.19\n"
    })
  })
})

it("a server serves on after the reader of its output has ended", async () => {
  const port = await freePort()
  const place = ["--http-address", `127.0.0.1:${port}`, "--database", `sqlite:${join(directory, "unread.db")}`, "--log-level", "debug"]
  const child = spawn(process.execPath, [program, ...place, "--workspaces-directory", join(directory, "unread")], {
    stdio: ["ignore", "pipe", "pipe"]
  })
  const listens = new Promise<void>((resolve) => {
    child.stdout.on("data", (chunk: Buffer) => chunk.includes("Atelier listens") && resolve())
  })
  await listens
  child.stdout.destroy()
  child.stderr.destroy()
  const login = () => fetch(`http://127.0.0.1:${port}/api/v2/users/login`, { method: "POST", body: "{}" })
  for (let count = 0; count < 3; count++) expect((await login()).status).toBeLessThan(500)
  const ended = once(child, "exit")
  child.kill("SIGTERM")
  expect((await ended)[0]).toBe(0)
})
