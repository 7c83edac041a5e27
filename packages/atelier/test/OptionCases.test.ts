/** How options are read, as recorded of the reference: one at a time, and several that do not go together. */
import { type Configuration, durationText, valueOf, variableOf, yamlPathOf } from "@atelier/core/deployment"
import { Schema } from "effect"
import { readFileSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { parse as parseYaml } from "yaml"
import { parseOptions, UsageError } from "../src/Options.js"
import { optionsPage } from "../src/OptionsPage.js"
import { configurationFrom, definitions } from "../src/Sources.js"

const Cases = Schema.parseJson(
  Schema.Struct({
    parsing: Schema.Array(
      Schema.Struct({
        option: Schema.String,
        source: Schema.Literal("flag", "environment", "yaml"),
        given: Schema.Union(Schema.String, Schema.Null, Schema.Array(Schema.String)),
        accepted: Schema.Boolean,
        normalised: Schema.optional(Schema.Unknown)
      })
    ),
    starts: Schema.Array(
      Schema.Struct({
        what: Schema.String,
        options: Schema.Record({ key: Schema.String, value: Schema.String }),
        starts: Schema.Boolean,
        build: Schema.String
      })
    )
  })
)

const cases = Schema.decodeSync(Cases)(readFileSync(new URL("recorded/options.json", import.meta.url), "utf8"))

/** Recorded values that are accepted there and refused here, or the other way round, with the reason. */
const exceptions: Readonly<Record<string, string>> = {
  "verbose yaml []": "a list is no truth value",
  "support-links yaml x": "a text is no list of links",
  "oidc-group-regex-filter yaml 5": "an expression stays a text"
}

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "atelier-cases-"))
})
afterAll(() => rm(directory, { recursive: true }))

type Case = (typeof cases.parsing)[number]

const titleOf = ({ given, option, source }: Case): string => `${option} by ${source} ${JSON.stringify(given)}`

const nested = (path: ReadonlyArray<string>, text: string): string =>
  path.map((key, depth) => `${"  ".repeat(depth)}${key}:`).join("\n") +
  (/\n|^- /.test(text) ? `\n${text.replaceAll(/^/gm, "  ".repeat(path.length))}\n` : ` ${text}\n`)

type Reader = (args: ReadonlyArray<string>, environment: Readonly<Record<string, string>>) => Configuration

/** Reads the sources, without looking at how options go together. */
const reading: Reader = (args, environment) => {
  const configuration = configurationFrom(args, environment, () => "Service")
  if (configuration === "help") throw new Error("no options")
  return configuration
}

/** Reads the sources as a start does. */
const starting: Reader = (args, environment) => {
  const options = parseOptions(args, environment)
  if (options === "help" || "yaml" in options) throw new Error("no options")
  return options.configuration
}

/** Reads one option from its source. Every other option has its default. */
const read = async (one: Case, from: Reader): Promise<Configuration> => {
  const { given, option, source } = one
  const definition = definitions[option]
  if (definition === undefined) throw new Error(`no option ${option}`)
  const texts = Array.isArray(given) ? given : [given]
  if (source === "environment") return from([], { [variableOf(option, definition, "ATELIER") ?? ""]: String(given) })
  if (source === "flag") {
    const isBool = definition.type === "bool"
    const args = texts.flatMap((text) =>
      text === null ? [`--${option}`] : isBool ? [`--${option}=${text}`] : [`--${option}`, String(text)]
    )
    return from(args, {})
  }
  const file = join(directory, `${option}-${cases.parsing.indexOf(one)}.yaml`)
  await writeFile(file, nested(yamlPathOf(definition) ?? [], String(given)))
  return from(["--config", file], {})
}

describe("a recorded value of an option", () => {
  const all = cases.parsing.filter(({ given, option, source }) => exceptions[`${option} ${source} ${String(given)}`] === undefined)
  it.each(all.filter(({ accepted }) => !accepted).map((one) => [titleOf(one), one] as const))("%s is refused", async (_, one) => {
    await expect(read(one, starting)).rejects.toThrow(UsageError)
  })

  it.each(all.filter(({ accepted }) => accepted).map((one) => [titleOf(one), one] as const))("%s is accepted", async (_, one) => {
    const configuration = await read(one, reading)
    const value = configuration.resolved.get(one.option)?.value
    const text = typeof value === "bigint" ? durationText(value) : value
    if (one.normalised !== null && one.normalised !== undefined) expect(text).toEqual(one.normalised)
  })
})

/** Starts that differ, with the reason. */
const differing: ReadonlySet<string> = new Set([
  // An operator would rely on what does not happen
  "TLS without certificate",
  // With the checks of keys in every build
  "encryption key of 31 bytes",
  "encryption key that is not base64",
  // Seen only when the server starts
  "OIDC issuer that does not answer",
  // The gateway is not served
  "AI provider of unknown type",
  "the same AI provider with another address",
  // They could only fail when a user signs in
  "external provider of unknown type without addresses",
  "external provider without type"
])

describe("a recorded start", () => {
  const starts = cases.starts.filter(({ build, what }) => build !== "licensed" && !differing.has(what))
  it.each(starts.map((one) => [one.what, one] as const))("with %s", (_, { options, starts: isGood }) => {
    const flags = Object.entries(options).filter(([name]) => !name.startsWith("ATELIER_"))
    const variables = Object.fromEntries(Object.entries(options).filter(([name]) => name.startsWith("ATELIER_")))
    const fill = (text: string): string => (text === "base64 of 32 bytes" ? Buffer.alloc(32).toString("base64") : text)
    const parse = () =>
      parseOptions(
        flags.map(([name, text]) => `--${name}=${fill(text)}`),
        variables
      )
    if (isGood) expect(parse()).toBeTypeOf("object")
    else expect(parse).toThrow(UsageError)
  })

  it.each([
    ["TYPE", "weird", "auth_url"],
    ["AUTH_URL", "git.example.com/auth", "auth_url"],
    ["AUTH_URL", "javascript:alert(1)", "auth_url"],
    ["TOKEN_URL", "file:///etc/passwd", "token_url"],
    ["VALIDATE_URL", "nope", "validate_url"],
    ["REVOKE_URL", "nope", "revoke_url"],
    ["REDIRECT_URL", "nope", "redirect_url"]
  ])("with %s %s of an external provider is refused", (key, value, named) => {
    const entry = { ID: "a", TYPE: "gitlab", CLIENT_ID: "x", [key]: value }
    const variables = Object.fromEntries(Object.entries(entry).map(([name, text]) => [`ATELIER_EXTERNAL_AUTH_0_${name}`, text]))
    expect(() => parseOptions([], variables)).toThrow(`needs an http or https URL as ${named}`)
  })

  const durations = Object.entries(definitions).flatMap(([flag, { type }]) =>
    type === "duration" && flag !== "session-duration" ? [flag] : []
  )

  it.each([
    "agent-connection-update-interval",
    "agent-stats-refresh-interval",
    "autobuild-poll-interval",
    "job-hang-detector-interval",
    "proxy-health-interval",
    "workspace-prebuilds-reconciliation-interval"
  ])("with a period of zero in %s is refused", (flag) => {
    for (const period of ["0", "999us"]) expect(() => parseOptions([`--${flag}=${period}`], {})).toThrow(`--${flag} must be 1ms or more`)
  })

  it.each(durations)("with a negative %s is refused", (flag) => {
    expect(() => parseOptions([`--${flag}=-1s`], {})).toThrow(`--${flag} must not be negative`)
  })

  it("with an encryption key of another length is refused without showing it", () => {
    const key = Buffer.alloc(31, 7).toString("base64")
    const parse = () => parseOptions([`--external-token-encryption-keys=${key}`], {})
    expect(parse).toThrow("--external-token-encryption-keys must be keys of 32 bytes")
    expect(parse).not.toThrow(key)
  })
})

describe("the YAML that --write-config prints", () => {
  it("is read again to the same values", async () => {
    const written = parseOptions(["--write-config", "--session-duration=48h", "--default-oauth-refresh-lifetime", "100h"], {
      ATELIER_OIDC_SCOPES: "openid,groups",
      ATELIER_OIDC_CLIENT_SECRET: "hunter2"
    })
    if (written === "help" || !("yaml" in written)) throw new Error("no YAML")
    expect(written.yaml).not.toContain("hunter2")
    expect(parseYaml(written.yaml)).toMatchObject({ networking: { http: { sessionDuration: "48h0m0s" } } })
    const file = join(directory, "written.yaml")
    await writeFile(file, written.yaml)
    const read = parseOptions(["--config", file], {})
    if (read === "help" || "yaml" in read) throw new Error("no options")
    expect(valueOf(read.configuration, "session-duration")).toBe(172_800_000_000_000n)
    expect(valueOf(read.configuration, "oidc-scopes")).toEqual(["openid", "groups"])
    expect(read.configuration.resolved.get("session-duration")?.source).toBe("yaml")
  })
})

describe("an option without effect that an operator would rely on", () => {
  it.each([
    ["--ephemeral", "--ephemeral is not supported: data would stay after the end"],
    ["--postgres-auth=awsiamrds", "--postgres-auth is not supported"],
    ["--oidc-client-key-file=key.pem", "--oidc-client-key-file is not supported"],
    ["--tls-client-cert-file=cert.pem", "--tls-client-cert-file is not supported"]
  ])("refuses to start: %s", (flag, message) => {
    expect(() => parseOptions([flag], {})).toThrow(message)
  })

  it("is accepted with its default value", () => {
    expect(parseOptions(["--postgres-auth=password", "--ephemeral=false"], {})).toMatchObject({ port: 3000 })
  })
})

describe("the page of the options", () => {
  it("is what the definitions say", () => {
    expect(readFileSync(new URL("../../../docs/options.md", import.meta.url), "utf8")).toBe(optionsPage())
  })
})
