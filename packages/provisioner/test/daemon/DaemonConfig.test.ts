import { Duration, Either, Redacted } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { provisionerApiVersion } from "@atelier/core/provisioning"
import { fromArguments, usage } from "../../src/daemon/DaemonConfig.js"
import { apiVersion, leastNode, version } from "../../src/daemon/Version.js"

const wellFormed = ["--url", "https://dev.example.com/base", "--key", "the-key"]

const read = (args: ReadonlyArray<string>, environment: Readonly<Record<string, string>> = {}) => fromArguments(args, environment)

const config = (args: ReadonlyArray<string>, environment: Readonly<Record<string, string>> = {}) => {
  const command = Either.getOrThrow(read(args, environment))
  if (command._tag !== "Run") throw new Error(`the command is ${command._tag}`)
  return command.config
}

describe("the arguments of the daemon", () => {
  it("have defaults for all but the server and the credential", () => {
    const { credential, directory, engines, grace, organization, tags, terraformEnvironment, terraformPlanTimeout, url } =
      config(wellFormed)
    const seconds = [grace, terraformPlanTimeout].map((time) => Duration.toSeconds(time))
    expect({ url: url.href, organization, tags, engines, directory, terraformEnvironment, seconds }).toStrictEqual({
      url: "https://dev.example.com/base",
      organization: "default",
      tags: [],
      engines: ["terraform"],
      directory: join(process.cwd(), "provisioner"),
      terraformEnvironment: [],
      seconds: [600, 600]
    })
    expect([credential.kind, Redacted.value(credential.secret)]).toStrictEqual(["key", "the-key"])
  })

  it("may be given several times where that makes sense", () => {
    const written =
      "--url=http://127.0.0.1:3000 --psk=shared --tag site=far --tag note=a=b --engine local --engine terraform --engine local"
    const { engines, tags } = config(written.split(" "))
    expect({ engines, tags }).toStrictEqual({ engines: ["local", "terraform"], tags: ["site=far", "note=a=b"] })
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
    [[...wellFormed, "--engine", "pulumi"], `--engine: "pulumi" is neither local nor terraform.`],
    [[...wellFormed, "--grace=-1"], `--grace: "-1" is not a number of seconds up to 86400.`],
    [[...wellFormed, "--grace", "86401"], `--grace: "86401" is not a number of seconds up to 86400.`],
    [[...wellFormed, "--terraform-plan-timeout", "1h"], `--terraform-plan-timeout: "1h" is not a number of seconds up to 86400.`],
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
    expect(usage.split("\n").every((line) => line.length <= 140)).toBe(true)
  })

  it("are those of the package and of the server's protocol", () => {
    const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as unknown
    expect(manifest).toMatchObject({ version, engines: { node: `>=${leastNode.join(".")}` } })
    expect(apiVersion).toBe(provisionerApiVersion)
  })
})
