import { Duration, Effect, Either, Layer, Redacted } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { provisionerApiVersion, ProvisionerEngines } from "@atelier/core/provisioning"
import { engineNames, fromArguments, usage } from "../../src/daemon/DaemonConfig.js"
import * as DaemonEngine from "../../src/daemon/DaemonEngine.js"
import { loadEngines } from "../../src/daemon/loadEngines.js"
import { apiVersion, leastNode, version } from "../../src/daemon/Version.js"

const wellFormed = ["--url", "https://dev.example.com/base", "--key", "the-key"]

/** An engine with an option of each form. */
const clay = DaemonEngine.make({
  name: "clay",
  options: {
    kiln: { type: "text", value: "NAME", description: "the kiln" },
    wheel: { type: "file", value: "FILE", description: "the wheel" },
    glaze: { type: "texts", value: "COLOUR", description: "a glaze; may be repeated" },
    pots: { type: "number", value: "NUMBER", description: "how many it burns" },
    "firing-time": { type: "seconds", value: "SECONDS", description: "how long it burns" }
  },
  layer: () => Layer.succeed(ProvisionerEngines, [])
})

const read = (args: ReadonlyArray<string>, environment: Readonly<Record<string, string>> = {}) => fromArguments(args, environment, [clay])

const config = (args: ReadonlyArray<string>, environment: Readonly<Record<string, string>> = {}) => {
  const command = Either.getOrThrow(read(args, environment))
  if (command._tag !== "Run") throw new Error(`the command is ${command._tag}`)
  return command.config
}

describe("the arguments of the daemon", () => {
  it("have defaults for all but the server and the credential", () => {
    const { credential, directory, engines, grace, organization, tags, url } = config(wellFormed)
    expect({ url: url.href, organization, tags, engines, directory, grace: Duration.toSeconds(grace) }).toStrictEqual({
      url: "https://dev.example.com/base",
      organization: "default",
      tags: [],
      engines: [{ engine: clay, options: { kiln: undefined, wheel: undefined, glaze: [], pots: undefined, "firing-time": undefined } }],
      directory: join(process.cwd(), "provisioner"),
      grace: 600
    })
    expect([credential.kind, Redacted.value(credential.secret)]).toStrictEqual(["key", "the-key"])
  })

  it("may be given several times where that makes sense", () => {
    const { tags } = config("--url=http://127.0.0.1:3000 --psk=shared --tag site=far --tag note=a=b".split(" "))
    expect(tags).toStrictEqual(["site=far", "note=a=b"])
    expect(engineNames([...wellFormed, "--engine", "local", "--engine=clay", "--engine", "local"])).toStrictEqual(["local", "clay"])
    expect(engineNames(wellFormed)).toStrictEqual(["terraform"])
  })

  it("have options of each engine", () => {
    const given =
      "--clay-kiln old --clay-kiln new --clay-wheel wheel --clay-glaze blue --clay-glaze red --clay-pots 12 --clay-firing-time 60"
    expect(config([...wellFormed, ...given.split(" ")]).engines.map(({ options }) => options)).toStrictEqual([
      { kiln: "new", wheel: join(process.cwd(), "wheel"), glaze: ["blue", "red"], pots: 12, "firing-time": Duration.minutes(1) }
    ])
  })

  it("win over the environment, which keeps secrets out of the list of processes", () => {
    const environment = { ATELIER_PROVISIONER_URL: "http://elsewhere", ATELIER_PROVISIONER_SESSION: "token" }
    const fromEnvironment = config([], environment)
    expect([fromEnvironment.url.host, fromEnvironment.credential.kind]).toStrictEqual(["elsewhere", "session"])
    const given = config(wellFormed, environment)
    expect([given.url.host, given.credential.kind]).toStrictEqual(["dev.example.com", "key"])
  })

  it("may name a file that holds the key", () => {
    const folder = mkdtempSync(join(tmpdir(), "daemon-"))
    writeFileSync(join(folder, "key"), "of-a-file\n")
    const { credential } = config(["--url", "http://x", "--key-file", join(folder, "key")])
    rmSync(folder, { recursive: true })
    expect(Redacted.value(credential.secret)).toBe("of-a-file")
  })

  it.each<[ReadonlyArray<string>, string]>([
    [["--key", "k"], "The address of the server is missing: give it with --url."],
    [["--url", "dev.example.com", "--key", "k"], `--url: "dev.example.com" is not an address of http or https.`],
    [["--url", "ftp://x", "--key", "k"], `--url: "ftp://x" is not an address of http or https.`],
    [["--url", "http://x"], "A credential is missing: give a provisioner key with --key."],
    [["--url", "http://x", "--key", "k", "--psk", "p"], "A provisioner key, a pre-shared key and a session exclude each other."],
    [[...wellFormed, "--key-file", "/nowhere/key"], "The key cannot be read: ENOENT: no such file or directory, open '/nowhere/key'"],
    [[...wellFormed, "--tag", "a=b"], "--tag: the tags of a daemon with a key are those of its key."],
    [["--url", "http://x", "--psk", "p", "--tag", "site"], `--tag: "site" is not of the form key=value.`],
    [[...wellFormed, "--grace=-1"], `--grace: "-1" is not a number of seconds up to 86400.`],
    [[...wellFormed, "--grace", "86401"], `--grace: "86401" is not a number of seconds up to 86400.`],
    [[...wellFormed, "--clay-firing-time", "1h"], `--clay-firing-time: "1h" is not a number of seconds up to 86400.`],
    [[...wellFormed, "--clay-pots", "0"], `--clay-pots: "0" is not a number from 1 to 1000000000.`],
    [[...wellFormed, "--name", ""], "--name must have 1 to 64 characters."],
    [[...wellFormed, "--brand", "–"], "--brand must have a letter."]
  ])("of %j are refused with one sentence", (args, message) => {
    const refusal = Either.flip(read(args))
    expect(Either.getOrThrow(refusal).message).toBe(message)
  })

  it("that are unknown are refused", () => {
    expect(Either.getOrThrow(Either.flip(read([...wellFormed, "--colour", "red"]))).message).toMatch(/^[^\n]*--colour[^\n]*$/)
  })

  it("for help and version need nothing else", () => {
    expect([Either.getOrThrow(read(["--help"]))._tag, Either.getOrThrow(read(["--version"]))._tag]).toStrictEqual(["Help", "Version"])
    const help = usage("atelier-provisioner", [clay])
    expect(help).toContain("  --clay-firing-time SECONDS\n                           how long it burns\n")
    expect(help.split("\n").every((line) => line.length <= 140)).toBe(true)
  })

  it("are those of the package and of the server's protocol", () => {
    const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as unknown
    expect(manifest).toMatchObject({ version, engines: { node: `>=${leastNode.join(".")}` } })
    expect(apiVersion).toBe(provisionerApiVersion)
  })
})

describe("the engines that are named", () => {
  const loaded = (...names: ReadonlyArray<string>) => Effect.runPromise(Effect.either(loadEngines(names, {})))

  it("are the local one, and those of packages that are installed", async () => {
    const engines = Either.getOrThrow(await loaded("local", "terraform", "@atelier/provisioner-terraform"))
    expect(engines.map(({ name }) => name)).toStrictEqual(["local", "terraform"])
  })

  it.each([
    ["pulumi", `--engine: "pulumi" needs the package @atelier/provisioner-pulumi, which is not installed.`],
    ["@acme/engine", `--engine: "@acme/engine" needs the package @acme/engine, which is not installed.`],
    ["@atelier/provisioner", "--engine: @atelier/provisioner/daemon exports no engine."]
  ])("are refused with one sentence where %s has none", async (name, message) => {
    expect(Either.getOrThrow(Either.flip(await loaded(name))).message).toBe(message)
  })
})
