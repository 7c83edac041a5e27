/** Secrets on the command line, in the environment and in the YAML file, which no message of the standalone server repeats. */
import { variableOf, yamlPathOf } from "@atelier/core/deployment"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inspect } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { stringify } from "yaml"
import { help, parseOptions, UsageError } from "../src/Options.js"
import { definitions } from "../src/Sources.js"

const marker = "marker-of-a-secret"
const encryptionKeys = "external-token-encryption-keys"

/** Every secret option, deprecated ones too. */
const secrets = Object.entries(definitions).flatMap(([name, definition]) => ("secret" in definition ? [[name, definition] as const] : []))

const key = Buffer.from(marker.padEnd(32).slice(0, 32)).toString("base64")
const addresses: ReadonlySet<string> = new Set(["database", "postgres-url"])
const valueOfSecret = (name: string): string =>
  name === encryptionKeys ? key : addresses.has(name) ? `postgres://user:${marker}@localhost/db` : `${marker}-${name}`

const asFlags = secrets.map(([name]) => `--${name}=${valueOfSecret(name)}`)
const asVariables = Object.fromEntries(
  secrets.flatMap(([name, definition]) => {
    const variable = variableOf(name, definition, "ATELIER")
    return variable === undefined ? [] : [[variable, valueOfSecret(name)]]
  })
)
const provider = { ATELIER_EXTERNAL_AUTH_0_TYPE: "gitlab", ATELIER_EXTERNAL_AUTH_0_CLIENT_SECRET: marker }

const expectNoSecret = (text: string): void => {
  expect(text).not.toContain(marker)
  expect(text).not.toContain(key)
}

const refusalOf = (args: ReadonlyArray<string>, environment: Readonly<Record<string, string>>): string => {
  try {
    parseOptions(args, environment)
  } catch (error) {
    expect(error).toBeInstanceOf(UsageError)
    return inspect(error)
  }
  throw new Error("the options were accepted")
}

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "atelier-redaction-"))
})
afterAll(() => rm(directory, { recursive: true }))

describe("a secret option", () => {
  it("is one of several", () => {
    expect(secrets.length).toBeGreaterThan(10)
  })

  it("is not printed when another option is refused", () => {
    const bad = "--session-duration=forever"
    expectNoSecret(refusalOf([...asFlags, bad], {}))
    expectNoSecret(refusalOf([bad], { ...asVariables, ...provider }))
  })

  it("is not printed by --write-config", () => {
    for (const options of [
      parseOptions([...asFlags, "--write-config"], {}),
      parseOptions(["--write-config"], { ...asVariables, ...provider, ATELIER_EXTERNAL_AUTH_0_CLIENT_ID: "client" })
    ]) {
      if (options === "help" || !("yaml" in options)) throw new Error("no YAML")
      expectNoSecret(options.yaml)
    }
  })

  it("is not printed by --help", () => {
    expect(parseOptions([...asFlags, "--help"], asVariables)).toBe("help")
    expectNoSecret(help("atelier"))
  })

  it("with a database of another kind is refused without it", () => {
    for (const [name, source] of [
      ["database", "--database"],
      ["postgres-url", "--postgres-url"]
    ] as const) {
      const refusal = refusalOf([`--${name}=mysql://user:${marker}@localhost/db`], {})
      expect(refusal).toContain(`${source} must be`)
      expectNoSecret(refusal)
    }
  })

  it.each(secrets.map(([name]) => [name] as const))("%s is not repeated where its value is refused", (name) => {
    const flags = [`--${name}=${marker}\u0000`, "--session-duration=forever"]
    expectNoSecret(refusalOf(flags, {}).replaceAll("\u0000", ""))
  })

  it.each(secrets.flatMap(([name, definition]) => (yamlPathOf(definition) === undefined ? [] : [[name, definition] as const])))(
    "%s is not repeated where the YAML file has a structure in its place",
    async (name, definition) => {
      const path = yamlPathOf(definition) ?? []
      const file = join(directory, `${name}.yaml`)
      await writeFile(file, stringify(path.reduceRight<unknown>((inner, part) => ({ [part]: inner }), { inner: { deep: marker } })))
      expectNoSecret(refusalOf(["--config", file, "--session-duration=forever"], {}))
    }
  )
})
