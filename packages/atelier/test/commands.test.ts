/** The commands of the program beside `serve`, each as a process. */
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, it } from "vitest"
import { globals } from "../../cli/src/commands.js"
import { lastingEmptyDatabaseUrl } from "../../../test/store/databases.js"
import { isOwn } from "../src/words.js"
import { Server } from "./Server.js"

const program = fileURLToPath(new URL("../dist/program.cjs", import.meta.url))

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "atelier-commands-"))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

/** Runs a command to its end. */
const ended = async (words: ReadonlyArray<string>, input = "") => {
  const env = { PATH: process.env["PATH"] ?? "", XDG_DATA_HOME: directory }
  const child = spawn(process.execPath, [program, ...words], { cwd: directory, stdio: "pipe", env })
  child.stdin.end(input)
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")])
  return { code, out, error }
}

it("migrate brings an empty database up to date, and doctor finds it so", async () => {
  const database = ["--database", await lastingEmptyDatabaseUrl()]
  expect((await ended(["doctor", ...database])).out).toMatch(/ok +database +\S+: it is empty: the first start makes its tables\n/)
  expect(await ended(["migrate", ...database])).toMatchObject({ code: 0, out: expect.stringMatching(/^The database \S+ is up to date\n$/) })
  const found = await ended(["doctor", "--deep", ...database])
  expect(found).toMatchObject({ code: 0, error: "" })
  expect(found.out).toMatch(/ok +rows +\S+: all invariants hold\n/)
  expect(found.out).toMatch(/ok +database +\S+: PostgreSQL [\d.]+ answers\n/)
  expect(found.out).toMatch(/ok +database +\S+: it is up to date, at migration \d+\n/)
  expect(found.out).toMatch(/ok +database +\S+: the clock of the database differs by 0\.\d s\n/)
})

it("doctor names what to do for each fault", async () => {
  const faults = [
    ["--database", "postgres://ada:hunter2@127.0.0.1:1/atelier"],
    ["--access-url", "http://127.0.0.1:1", "--wildcard-access-url", "*.atelier.invalid"],
    ["--engines", "terraform,docker,kubernetes", "--terraform-binary", join(directory, "none")],
    ["--docker-host", `unix://${join(directory, "none.sock")}`, "--kubernetes-kubeconfig", join(directory, "none.yaml")],
    ["--email-smarthost", "127.0.0.1:1", "--email-from", "atelier@example.com"]
  ].flat()
  const { code, out } = await ended(["doctor", ...faults])
  expect(code).toBe(1)
  const advised = (line: RegExp) => expect(out).toMatch(new RegExp(`${line.source}.*\\n +→ \\S.*\\n`))
  advised(/error +database +127\.0\.0\.1:1\/atelier: it cannot be used: connect ECONNREFUSED/)
  advised(/warning +access URL +http:\/\/127\.0\.0\.1:1 does not answer/)
  advised(/error +wildcard +doctor-\w+\.atelier\.invalid has no address/)
  advised(/error +engines +terraform: \S+ cannot be run/)
  advised(/error +engines +docker: \S+ cannot be used/)
  advised(/error +engines +kubernetes: there is no/)
  advised(/error +mail +127\.0\.0\.1:1 does not answer/)
  expect(out).not.toContain("hunter2")
})

it("doctor says that a file is no database", async () => {
  const file = join(directory, "junk.db")
  await writeFile(file, "junk".repeat(2000))
  const { code, out } = await ended(["doctor", "--database", `sqlite:${file}`])
  expect([code, out]).toStrictEqual([1, expect.stringMatching(/error +database +\S+: it cannot be used: file is not a database\n +→ /)])
})

it("reset-password sets a password that is strong enough, while no server has the file", async () => {
  const database = `sqlite:${join(directory, "atelier.db")}`
  const start = () => Server.start({ port: 0, database, workspacesDirectory: join(directory, "workspaces") })
  const post = async (url: string, body: object) =>
    (await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })).status
  const reset = (user: string, password: string) => ended(["reset-password", user, "--database", database], `${password}\n`)
  const owner = { email: "ada@example.com", username: "ada" }

  const first = await start()
  expect(await post(`${first.url}/api/v2/users/first`, { ...owner, password: "SomeSecurePassword!" })).toBe(201)
  expect(await reset("ada", "AnotherSecurePassword!")).toMatchObject({
    code: 1,
    error: expect.stringMatching(/^reset-password has failed: --database "\S+": another server uses it: stop it first, /)
  })
  expect(await first.stop()).toBe(0)

  expect(await reset("grace", "AnotherSecurePassword!")).toMatchObject({ code: 1, error: 'There is no user "grace"\n' })
  expect(await reset("ada", "short")).toMatchObject({
    code: 1,
    error: expect.stringMatching(/^The password is not strong enough\.\n {2}password: is too easy to guess: [^\n]+\n$/)
  })
  expect(await reset("ada", "AnotherSecurePassword!")).toStrictEqual({ code: 0, out: "The password of ada is changed\n", error: "" })
  expect(await reset("grace@example.com", "AThirdSecurePassword!")).toMatchObject({
    code: 1,
    error: 'There is no user "grace@example.com"\n'
  })
  expect(await reset("Ada@example.com", "AThirdSecurePassword!")).toMatchObject({ code: 0, error: "" })

  const next = await start()
  const login = (password: string) => post(`${next.url}/api/v2/users/login`, { email: owner.email, password })
  expect(await login("AnotherSecurePassword!")).toBe(401)
  expect(await login("SomeSecurePassword!")).toBe(401)
  expect(await login("AThirdSecurePassword!")).toBe(201)
  expect(await next.stop()).toBe(0)
})

it("reset-password refuses a database file that does not exist", async () => {
  const place = join(directory, "none.db")
  expect(await ended(["reset-password", "ada", "--database", `sqlite:${place}`], "AnotherSecurePassword!\n")).toStrictEqual({
    code: 1,
    out: "",
    error: `reset-password has failed: --database "${place}": there is no such file\n`
  })
  expect(existsSync(place)).toBe(false)
})

it.each([
  ["SQLite", async () => `sqlite:${join(directory, "keys.db")}`, 1],
  ["PostgreSQL", () => lastingEmptyDatabaseUrl(), 0]
] as const)("reencrypt lets a former key be left out: %s", async (kind, make, besideServer) => {
  const database = await make()
  const [old, next] = [randomBytes(32), randomBytes(32)].map((key) => key.toString("base64"))
  const withKeys = (keys: string) => ["--database", database, "--external-token-encryption-keys", keys]
  const start = (keys: string) =>
    Server.start({
      port: 0,
      database,
      workspacesDirectory: join(directory, `keys-${kind}`),
      args: ["--external-token-encryption-keys", keys]
    })
  const call = async (method: string, address: string, body: object, token = "") => {
    const headers = { "content-type": "application/json", "service-session-token": token }
    const answer = await fetch(address, { method, headers, body: JSON.stringify(body) })
    return (await answer.json()) as { readonly session_token: string }
  }
  const owner = { email: "ada@example.com", password: "SomeSecurePassword!" }
  const first = await start(old ?? "")
  await call("POST", `${first.url}/api/v2/users/first`, { ...owner, username: "ada" })
  const { session_token } = await call("POST", `${first.url}/api/v2/users/login`, owner)
  await call("POST", `${first.url}/api/v2/users/me/secrets`, { name: "s", env_name: "S", value: "a" }, session_token)
  expect((await ended(["reencrypt", ...withKeys(`${next},${old}`)])).code).toBe(besideServer)
  expect(await first.stop()).toBe(0)
  const missingKey = /which (?:this server does not have|is not given)/
  expect((await ended(["doctor", ...withKeys(`${next},${old}`)])).out).toMatch(/ok +keys +stored secrets open with the given keys\n/)
  const lacking = await ended(["doctor", "--database", database])
  expect(lacking).toMatchObject({
    code: 1,
    out: expect.stringMatching(/error +keys +stored secrets are encrypted with the key [\da-f]{16}, which is not given\n +→ /)
  })
  const [, id] = /the key ([\da-f]{16}),/.exec(lacking.out) ?? []
  const without = await start("")
  await expect.poll(() => without.log).toContain(`encrypted with the key ${id}, which this server does not have`)
  const health = await fetch(`${without.url}/api/v2/debug/health`, { headers: { "service-session-token": session_token } })
  expect(await health.json()).toMatchObject({
    database: { severity: "warning", warnings: expect.arrayContaining([{ code: "EDB03", message: expect.stringMatching(missingKey) }]) }
  })
  expect(await without.stop()).toBe(0)

  expect(await ended(["reencrypt", "--database", database])).toMatchObject({
    code: 2,
    error: expect.stringContaining("The keys are missing")
  })
  const all = await ended(["reencrypt", ...withKeys(`${old},${next}`)])
  expect(all).toMatchObject({
    code: 0,
    error: "",
    out: expect.stringMatching(/^\S+: \d+ values? (?:is|are) encrypted anew with the first key\n$/)
  })
  const unread = await ended(["reencrypt", ...withKeys(next ?? "")])
  expect(unread).toMatchObject({
    code: 1,
    error: expect.stringMatching(/^[1-9]\d* values? (?:is|are) not readable with these keys: give .*\n$/)
  })
  expect(await ended(["reencrypt", ...withKeys(`${next},${old}`)])).toMatchObject({ code: 0, error: "" })
  // The former one is needed no more
  expect(await ended(["reencrypt", ...withKeys(next ?? "")])).toMatchObject({
    code: 0,
    out: expect.stringMatching(/: 0 values/),
    error: ""
  })
})

it.each([
  ["SQLite", async (name: string) => `sqlite:${join(directory, name)}.db`],
  ["PostgreSQL", () => lastingEmptyDatabaseUrl()]
] as const)("backup copies the database of a running server, and restore makes another one of it: %s", async (kind, database) => {
  const [from, to, copy] = [await database("copied"), await database("restored"), join(directory, `copy-${kind}`)]
  const server = await Server.start({ port: 0, database: from, workspacesDirectory: join(directory, `copied-${kind}`) })
  expect(await ended(["backup", copy, "--database", from])).toMatchObject({ code: 0, error: "" })
  expect(await server.stop()).toBe(0)
  expect(await ended(["restore", copy, "--database", to])).toMatchObject({ code: 0, error: "" })
  expect((await ended(["doctor", "--database", to])).out).toMatch(/ok +database +\S.*: it is up to date/)
  const again = await ended(["restore", copy, "--database", to])
  expect(again).toMatchObject({
    code: 1,
    error: expect.stringMatching(/^restore has failed: .*(?:the file exists|the database is not empty)/)
  })
  const missing = join(directory, "missing")
  expect(await ended(["restore", missing, "--database", await database("unmade")])).toStrictEqual({
    code: 1,
    out: "",
    error: `restore has failed: from "${missing}": there is no such file\n`
  })
})

it("backup without a file is refused", async () => {
  expect(await ended(["backup"])).toMatchObject({ code: 2, error: expect.stringContaining("The file is missing: backup FILE") })
})

it.skipIf(!existsSync("/dev/full"))("a command whose output is lost fails, and says why", async () => {
  const database = ["--database", `sqlite:${join(directory, "lost.db")}`]
  const commands = [
    ["--version"],
    ["--help"],
    ["serve", "--write-config"],
    ["doctor", "--help"],
    ["proxy", "--help"],
    ["migrate", ...database]
  ]
  for (const words of commands) {
    const env = { PATH: process.env["PATH"] ?? "", XDG_DATA_HOME: directory }
    const child = spawn("sh", ["-c", 'exec "$0" "$@" >/dev/full', process.execPath, program, ...words], {
      cwd: directory,
      stdio: "pipe",
      env
    })
    const [error, [code]] = await Promise.all([text(child.stderr), once(child, "exit")])
    expect([words, code, error]).toStrictEqual([words, 1, "The output is lost: ENOSPC: no space left on device, write\n"])
  }
})

it("a word of the command line is handed to it", async () => {
  expect(await ended(["help"])).toMatchObject({ code: 0, out: expect.stringContaining("login") })
  expect((await ended(["server", "--version"])).out).toMatch(/^Atelier \d/)
})

it("an option of the command line may stand before its command, as the hosts of config-ssh have it", async () => {
  const notLoggedIn = { code: 3, error: expect.stringContaining("not logged in") }
  expect(await ended(["-o", "json", "context", "list"])).toMatchObject({ code: 0, out: "[]\n", error: "" })
  for (const options of [["-q"], ["-ojsonl"], ["--output=json", "--debug"]])
    expect(await ended([...options, "list"])).toMatchObject(notLoggedIn)
  expect(await ended(["--context", "none", "ssh", "--stdio", "first.atelier"])).toMatchObject({
    code: 255,
    error: expect.stringContaining('"none"')
  })
  const elsewhere = await ended(["--url", "http://127.0.0.1:1", "list"])
  expect(elsewhere).toMatchObject({ code: 3, error: expect.not.stringContaining("no option") })
})

it("the options before a command are those that the command line has", () => {
  for (const [name, { short }] of Object.entries(globals)) {
    expect(isOwn([`--${name}`])).toBe(false)
    if (short !== undefined) expect(isOwn([`-${short}`])).toBe(false)
  }
  expect([[], ["--http-address", "x"], ["--help"], ["-h"], ["serve"]].map(isOwn)).toStrictEqual([true, true, true, true, true])
})
