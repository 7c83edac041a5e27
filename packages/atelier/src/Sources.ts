/** Where options come from: the command line, then variables, then a YAML file. deployment.md §2.2. */
import {
  type Configuration,
  type Definition,
  type Given,
  isSet,
  type OptionRefused,
  optionDefinitions,
  readBool,
  readExternalAuth,
  resolve,
  variableOf,
  type Yaml,
  yamlPathOf
} from "@atelier/core/deployment"
import { parseYamlOptions } from "@atelier/node"
import { Either } from "effect"
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { ownDefinitions } from "./definitions.js"

/** The first word of this program's variables. */
const prefix = "ATELIER"

export const definitions: Readonly<Record<string, Definition>> = { ...optionDefinitions, ...ownDefinitions }

/** A command line that cannot be used; the message says what to write instead. */
export class UsageError extends Error {}

type Environment = Readonly<Record<string, string | undefined>>

/** Options of other programs, and their names here. */
const hints: Readonly<Record<string, string>> = {
  port: "--http-address 127.0.0.1:PORT",
  p: "--http-address 127.0.0.1:PORT",
  host: "--http-address HOST:3000",
  db: "--database"
}

const unknown = (name: string): UsageError => {
  const hint = hints[name]
  return new UsageError(`There is no option ${name.length === 1 ? "-" : "--"}${name}${hint === undefined ? "" : `: write ${hint}`}`)
}

/** The texts of each flag, in order. A flag that is on or off may have its value behind it, as a word of its own or after `=`. */
const flagsOf = (args: ReadonlyArray<string>): ReadonlyMap<string, ReadonlyArray<string>> => {
  const options: Record<string, { type: "boolean" | "string"; short?: string }> = { help: { type: "boolean", short: "h" } }
  for (const [name, { shorthand, type }] of Object.entries(definitions)) {
    options[name] = { type: type === "bool" ? "boolean" : "string", ...(shorthand === undefined ? {} : { short: shorthand }) }
  }
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true, allowPositionals: true })
  const flags = new Map<string, Array<string>>()
  let last: { readonly texts: Array<string>; readonly index: number } | undefined
  for (const token of tokens) {
    const [before, open] = [last, flags]
    last = undefined
    if (token.kind === "option") {
      const option = options[token.name]
      if (option === undefined) throw unknown(token.name)
      if (option.type === "string" && token.value === undefined) throw new UsageError(`--${token.name} needs a value`)
      const texts = open.get(token.name) ?? []
      texts.push(token.value ?? "true")
      open.set(token.name, texts)
      if (option.type === "boolean" && token.value === undefined) last = { texts, index: token.index }
    } else if (token.kind === "positional") {
      if (before?.index !== token.index - 1 || Either.isLeft(readBool(token.value)))
        throw new UsageError(`There is no option ${JSON.stringify(token.value)}: options begin with --`)
      before.texts.splice(-1, 1, token.value)
    }
  }
  return flags
}

/** A variable by its name, or by that name behind `HOMEBREW_`. */
const variable = (environment: Environment, name: string): string | undefined => environment[name] ?? environment[`HOMEBREW_${name}`]

const found = (yaml: Yaml | undefined, path: ReadonlyArray<string>): Yaml | undefined =>
  path.reduce<Yaml | undefined>((at, key) => (at?.kind === "map" ? at.entries.get(key) : undefined), yaml)

/** Refuses keys that no option has: they are mostly spelled wrongly. */
const refuseUnknownKeys = (yaml: Yaml, known: ReadonlySet<string>, path: ReadonlyArray<string>): void => {
  if (yaml.kind !== "map") return
  for (const [key, value] of yaml.entries) {
    const here = [...path, key].join(".")
    if (known.has(here)) continue
    const isGroup = [...known].some((one) => one.startsWith(`${here}.`))
    if (!isGroup) throw new UsageError(`There is no option ${JSON.stringify(here)} in a YAML file`)
    refuseUnknownKeys(value, known, [...path, key])
  }
}

const fileOf = (path: string | undefined): Yaml | undefined => {
  if (path === undefined || path === "") return undefined
  const text = (() => {
    try {
      return readFileSync(path, "utf8")
    } catch (error) {
      throw new UsageError(`--config cannot be read: ${error instanceof Error ? error.message : String(error)}`)
    }
  })()
  const yaml = Either.getOrThrowWith(parseYamlOptions(text), (reason) => new UsageError(`--config ${JSON.stringify(path)} ${reason}`))
  const known = new Set(Object.values(definitions).flatMap((definition) => yamlPathOf(definition)?.join(".") ?? []))
  refuseUnknownKeys(yaml, known, [])
  return yaml
}

/** The providers that numbered variables name, from 0 without gaps. deployment.md §10.2. */
const externalAuthOf = (environment: Environment, prefixes: ReadonlyArray<string>): Given | undefined => {
  const entries = new Map<number, Map<string, string>>()
  let name = ""
  for (const word of prefixes.toReversed()) {
    for (const [key, text] of Object.entries(environment)) {
      const match = new RegExp(`^${word}_(?:EXTERNAL_AUTH|GITAUTH)_(\\d{1,3})_([A-Z_]+)$`).exec(key)
      if (match?.[1] === undefined || match[2] === undefined || text === undefined) continue
      const fields = entries.get(Number(match[1])) ?? new Map<string, string>()
      entries.set(Number(match[1]), fields.set(match[2].toLowerCase(), text))
      name = `${word}_EXTERNAL_AUTH`
    }
  }
  if (entries.size === 0) return undefined
  const value = Array.from({ length: entries.size }, (_, index) => {
    const fields = entries.get(index)
    if (fields === undefined) throw new UsageError(`${name}_${index}_… is missing: external providers are numbered from 0 without gaps`)
    return Either.getOrThrowWith(
      readExternalAuth((key) => fields.get(key)),
      (reason) => new UsageError(`${name}_${index}: ${reason}`)
    )
  })
  return { source: "", value, name }
}

/** The deprecated options count for the new ones. deployment.md §2.2. */
const withReplacements = (configuration: Configuration): Configuration => {
  const resolved = new Map(configuration.resolved)
  const address = resolved.get("address")
  if (address !== undefined && isSet(configuration, "address") && address.value !== "") {
    const isSecure = resolved.get("tls-enable")?.value === true
    resolved.set(isSecure ? "tls-address" : "http-address", address)
    if (isSecure) resolved.set("http-address", { ...address, value: "", source: "default" })
  }
  const redirect = resolved.get("tls-redirect-http-to-https")
  if (redirect?.value === true && isSet(configuration, "tls-redirect-http-to-https")) resolved.set("redirect-to-access-url", redirect)
  return { ...configuration, resolved }
}

const refused = (error: OptionRefused): UsageError => new UsageError(error.message)

/** What the sources say, or `help` if that is asked for. Throws `UsageError`. */
export const configurationFrom = (
  args: ReadonlyArray<string>,
  environment: Environment,
  wordOf: (compatibility: string, brand: string) => string
): Configuration | "help" => {
  const flags = flagsOf(args)
  if (flags.has("help")) return "help"
  const early = (name: string): string | undefined =>
    flags.get(name)?.at(-1) ?? variable(environment, `${prefix}_${name === "config" ? "CONFIG_PATH" : name.toUpperCase()}`)
  const yaml = fileOf(early("config"))
  const own = (name: "brand" | "compatibility"): string => {
    const inFile = found(yaml, ["program", name])
    return early(name) ?? (inFile?.kind === "scalar" ? inFile.text : "")
  }
  const brand = wordOf(own("compatibility"), own("brand"))
  const isBranded = own("compatibility") + own("brand") !== ""
  const word = brand.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_")
  const prefixes = isBranded ? [prefix, word] : [prefix]
  const external = externalAuthOf(environment, prefixes)
  const given = (flag: string, definition: Definition): Given | undefined => {
    const texts = flags.get(flag)
    if (texts !== undefined) return { source: "flag", texts, name: `--${flag}` }
    for (const one of prefixes) {
      const name = variableOf(flag, definition, one)
      const text = name === undefined ? undefined : variable(environment, name)
      if (name !== undefined && text !== undefined) return { source: "env", texts: [text], name }
    }
    if (flag === "external-auth-providers" && external !== undefined) return external
    const path = yamlPathOf(definition)
    const inFile = path === undefined ? undefined : found(yaml, path)
    return inFile === undefined ? undefined : { source: "yaml", yaml: inFile, name: `${path?.join(".")} in the YAML file` }
  }
  return withReplacements(
    Either.getOrThrowWith(
      resolve({ prefix: isBranded ? word : prefix, brand, given, parseYaml: parseYamlOptions, additions: ownDefinitions }),
      refused
    )
  )
}
