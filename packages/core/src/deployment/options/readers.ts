/** How the texts of options are read. Which texts are accepted is deployment.md §2.1's. */
import { Either } from "effect"
import { compilePattern } from "../../platform/texts/Pattern.js"
import type { Definition } from "./Definition.js"

/** A value in a YAML file. Scalars are their texts; `isPlain` says that a text stands without quotes. */
export type Yaml =
  | { readonly kind: "scalar"; readonly text: string; readonly isPlain: boolean }
  | { readonly kind: "list"; readonly items: ReadonlyArray<Yaml> }
  | { readonly kind: "map"; readonly entries: ReadonlyMap<string, Yaml> }

/** Reads a YAML document, or says why it cannot. */
export type YamlParser = (text: string) => Either.Either<Yaml, string>

/** A link of the support menu. */
export interface SupportLink {
  readonly name: string
  readonly target: string
  readonly icon: string
  readonly location?: string
}

/** A provider of tokens for workspaces as it is configured; empty texts stand for defaults. deployment.md §10.2. */
export interface ExternalAuthEntry {
  readonly id: string
  readonly type: string
  readonly client_id: string
  readonly client_secret: string
  readonly auth_url: string
  readonly token_url: string
  readonly validate_url: string
  readonly revoke_url: string
  readonly redirect_url: string
  readonly app_install_url: string
  readonly app_installations_url: string
  readonly no_refresh: boolean
  readonly scopes: ReadonlyArray<string> | null
  readonly extra_token_keys: ReadonlyArray<string> | null
  readonly device_flow: boolean
  readonly device_code_url: string
  readonly mcp_url: string
  readonly mcp_tool_allow_regex: string
  readonly mcp_tool_deny_regex: string
  readonly regex: string
  readonly api_base_url: string
  readonly display_name: string
  readonly display_icon: string
  readonly code_challenge_methods_supported: ReadonlyArray<string> | null
}

export type StructureValue =
  | Readonly<Record<string, string>>
  | Readonly<Record<string, ReadonlyArray<string>>>
  | ReadonlyArray<SupportLink>
  | ReadonlyArray<ExternalAuthEntry>

/** Durations are nanoseconds. */
export type OptionValue = boolean | number | bigint | string | ReadonlyArray<string> | StructureValue

type Read<A> = Either.Either<A, string>

const truth: ReadonlyMap<string, boolean> = new Map([
  ...["1", "t", "T", "TRUE", "true", "True"].map((text) => [text, true] as const),
  ...["", "0", "f", "F", "FALSE", "false", "False"].map((text) => [text, false] as const)
])

export const readBool = (text: string): Read<boolean> => Either.fromNullable(truth.get(text), () => "must be true or false")

const greatest = 2n ** 63n - 1n

const readInt = (text: string): Read<number> => {
  if (!/^[+-]?\d{1,19}$/.test(text)) return Either.left("must be a whole number")
  const number = BigInt(text.replace("+", ""))
  return number > greatest || number < -greatest - 1n ? Either.left("must be a number of 64 bits") : Either.right(Number(number))
}

const units: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
  d: 86_400_000_000_000n,
  w: 604_800_000_000_000n
}

const part = /(\d{0,18})(?:\.(\d{0,18}))?(ns|us|µs|μs|ms|s|m|h|d|w)/y

/** Nanoseconds of a text such as `1h30m`, `1.5d` or `0`. */
export const readDuration = (text: string): Read<bigint> => {
  const refused = Either.left("must be a duration such as 90s, 1h30m or 7d")
  const sign = /^[+-]/.exec(text)?.[0] ?? ""
  const rest = text.slice(sign.length)
  if (rest === "0") return Either.right(0n)
  if (rest === "" || rest.length > 100) return refused
  let total = 0n
  for (part.lastIndex = 0; part.lastIndex < rest.length;) {
    const [, whole = "", fraction = "", name = ""] = part.exec(rest) ?? []
    const unit = units[name]
    if (unit === undefined || whole + fraction === "") return refused
    total += BigInt(whole || "0") * unit + (BigInt(fraction || "0") * unit) / 10n ** BigInt(fraction.length)
  }
  if (total > greatest) return Either.left("must be at most 106751 days")
  return Either.right(sign === "-" ? -total : total)
}

/** The text of a duration in hours, minutes and seconds, or in the one smaller unit. */
export const durationText = (nanoseconds: bigint): string => {
  if (nanoseconds === 0n) return "0s"
  const sign = nanoseconds < 0n ? "-" : ""
  const amount = nanoseconds < 0n ? -nanoseconds : nanoseconds
  const decimal = (unit: bigint): string => {
    const digits = unit.toString().length - 1
    const fraction = (amount % unit).toString().padStart(digits, "0").replace(/0+$/, "")
    return `${amount / unit}${fraction === "" || digits === 0 ? "" : `.${fraction}`}`
  }
  if (amount < 1_000n) return `${sign}${amount}ns`
  if (amount < 1_000_000n) return `${sign}${decimal(1_000n)}µs`
  if (amount < 1_000_000_000n) return `${sign}${decimal(1_000_000n)}ms`
  const minutes = amount / 60_000_000_000n
  const seconds = amount % 60_000_000_000n
  const fraction = (seconds % 1_000_000_000n).toString().padStart(9, "0").replace(/0+$/, "")
  const tail = `${seconds / 1_000_000_000n}${fraction === "" ? "" : `.${fraction}`}s`
  if (minutes === 0n) return `${sign}${tail}`
  return minutes < 60n ? `${sign}${minutes}m${tail}` : `${sign}${minutes / 60n}h${minutes % 60n}m${tail}`
}

/** The fields of one CSV record. A line break ends it. RFC 4180 §2. */
export const readList = (text: string): Read<ReadonlyArray<string>> => {
  const line = /^(?:"(?:[^"]|"")*"|[^\n"]|")*/.exec(text)?.[0] ?? ""
  if (line === "") return Either.right([])
  const fields: Array<string> = []
  const field = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y
  for (;;) {
    const found = field.exec(line)
    if (found === null) return Either.left('must be a list such as a,b or "a,b",c')
    fields.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? "")
    if (found[3] === "") return Either.right(fields)
  }
}

/** Nearly any text is a URL: what is refused cannot be taken apart. RFC 3986 §3. */
export const readUrl = (text: string): Read<string> => {
  const refused = Either.left("must be a URL")
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(text) || text.startsWith(":")) return refused
  const [beforeQuery = ""] = text.split("?")
  if (/%(?![0-9a-fA-F]{2})/.test(beforeQuery)) return refused
  const scheme = /^[a-zA-Z][a-zA-Z0-9+.-]*:/.exec(text)?.[0] ?? ""
  const rest = text.slice(scheme.length)
  if (scheme === "" && (rest.split("/")[0] ?? "").includes(":")) return refused
  if (rest.startsWith("//")) {
    const authority = /^\/\/([^/?#]*)/.exec(rest)?.[1] ?? ""
    const host = authority.slice(authority.lastIndexOf("@") + 1)
    if (/[\s<>"]/.test(host)) return refused
    if (!(host.startsWith("[") ? /^\[[^\]]*\](:\d*)?$/ : /^[^[\]:]*(:\d*)?$/).test(host)) return refused
  }
  return Either.right(rest === "//" ? scheme : text)
}

const readHostPort = (text: string): Read<string> =>
  /^(\[[^[\]]*\]|[^[\]:]*):[^[\]:]*$/.test(text) ? Either.right(text === ":" ? "" : text) : Either.left("must be HOST:PORT")

const readPattern = (text: string): Read<string> => {
  const pattern = compilePattern(text)
  return typeof pattern === "string" ? Either.left(`must be a regular expression: ${pattern}`) : Either.right(text)
}

const oneOf = (choices: ReadonlyArray<string>): string => `must be one of ${choices.join(", ")}`

const isNull = (yaml: Yaml): boolean => yaml.kind === "scalar" && yaml.isPlain && /^(|~|null|Null|NULL)$/.test(yaml.text)

const textOf = (yaml: Yaml | undefined): Read<string> => {
  if (yaml === undefined || isNull(yaml)) return Either.right("")
  return yaml.kind === "scalar" ? Either.right(yaml.text) : Either.left("must have texts as values")
}

const listOf = (yaml: Yaml | undefined): Read<ReadonlyArray<string>> => {
  if (yaml === undefined || isNull(yaml)) return Either.right([])
  return yaml.kind === "list" ? Either.all(yaml.items.map(textOf)) : Either.left("must have lists of texts as values")
}

const mapped = <A>(yaml: Yaml, read: (value: Yaml) => Read<A>): Read<Readonly<Record<string, A>>> =>
  yaml.kind === "map"
    ? Either.map(Either.all([...yaml.entries].map(([key, value]) => Either.map(read(value), (one) => [key, one] as const))), (all) =>
        Object.fromEntries(all)
      )
    : Either.left("must be a map")

const readLink = (yaml: Yaml): Read<SupportLink> => {
  if (yaml.kind !== "map") return Either.left("must be a list of links with name, target and icon")
  const { entries } = yaml
  return Either.map(
    Either.all({
      name: textOf(entries.get("name")),
      target: textOf(entries.get("target")),
      icon: textOf(entries.get("icon")),
      location: textOf(entries.get("location"))
    }),
    ({ location, ...link }) => (location === "" ? link : { ...link, location })
  )
}

/** A provider without any setting. */
export const emptyExternalAuth: ExternalAuthEntry = {
  id: "",
  type: "",
  client_id: "",
  client_secret: "",
  auth_url: "",
  token_url: "",
  validate_url: "",
  revoke_url: "",
  redirect_url: "",
  app_install_url: "",
  app_installations_url: "",
  no_refresh: false,
  scopes: null,
  extra_token_keys: null,
  device_flow: false,
  device_code_url: "",
  mcp_url: "",
  mcp_tool_allow_regex: "",
  mcp_tool_deny_regex: "",
  regex: "",
  api_base_url: "",
  display_name: "",
  display_icon: "",
  code_challenge_methods_supported: null
}

/** Reads the entry of a provider from texts by key; lists are separated by blanks. */
export const readExternalAuth = (field: (key: string) => string | ReadonlyArray<string> | undefined): Read<ExternalAuthEntry> => {
  const text = (key: string): string => {
    const value = field(key)
    return typeof value === "string" ? value : (value ?? []).join(" ")
  }
  const list = (key: string): ReadonlyArray<string> | null => {
    const value = field(key)
    if (value === undefined) return null
    return typeof value === "string" ? value.split(" ").filter((one) => one !== "") : value
  }
  const truthOf = (key: string): Read<boolean> => Either.mapLeft(readBool(text(key)), (reason) => `${key} ${reason}`)
  return Either.map(Either.all({ no_refresh: truthOf("no_refresh"), device_flow: truthOf("device_flow") }), (truths) => ({
    id: text("id"),
    type: text("type"),
    client_id: text("client_id"),
    client_secret: text("client_secret"),
    auth_url: text("auth_url"),
    token_url: text("token_url"),
    validate_url: text("validate_url"),
    revoke_url: text("revoke_url"),
    redirect_url: text("redirect_url"),
    app_install_url: text("app_install_url"),
    app_installations_url: text("app_installations_url"),
    ...truths,
    scopes: list("scopes"),
    extra_token_keys: list("extra_token_keys"),
    device_code_url: text("device_code_url"),
    mcp_url: text("mcp_url"),
    mcp_tool_allow_regex: text("mcp_tool_allow_regex"),
    mcp_tool_deny_regex: text("mcp_tool_deny_regex"),
    regex: text("regex"),
    api_base_url: text("api_base_url"),
    display_name: text("display_name"),
    display_icon: text("display_icon"),
    code_challenge_methods_supported: list("code_challenge_methods_supported") ?? list("pkce_methods")
  }))
}

const readProvider = (yaml: Yaml): Read<ExternalAuthEntry> => {
  if (yaml.kind !== "map") return Either.left("must be a list of providers")
  const fields = Either.all(
    Object.fromEntries(
      [...yaml.entries].map(([key, value]): readonly [string, Read<string | ReadonlyArray<string>>] => [
        key,
        value.kind === "list" ? listOf(value) : textOf(value)
      ])
    )
  )
  return Either.flatMap(fields, (values) => readExternalAuth((key) => (Object.hasOwn(values, key) ? values[key] : undefined)))
}

/** The value of a structure; nothing at all is the empty one. */
const readStructure = ({ structure }: Definition, yaml: Yaml): Read<StructureValue> => {
  const isMap = structure === "texts" || structure === "lists"
  if (isNull(yaml)) return Either.right(isMap ? {} : [])
  if (structure === "texts") return mapped(yaml, textOf)
  if (structure === "lists") return mapped(yaml, listOf)
  if (yaml.kind !== "list") return Either.left("must be a list")
  return structure === "links" ? Either.all(yaml.items.map(readLink)) : Either.all(yaml.items.map(readProvider))
}

const within = (definition: Definition, values: ReadonlyArray<string>): Read<ReadonlyArray<string>> => {
  const { each } = definition
  return each === undefined || values.every((value) => each.includes(value)) ? Either.right(values) : Either.left(oneOf(each))
}

/** Reads a flag's or a variable's text. */
export const readText = (definition: Definition, text: string, parseYaml: YamlParser): Read<OptionValue> => {
  switch (definition.type) {
    case "bool":
      return readBool(text)
    case "int":
      return Either.filterOrLeft(
        readInt(text),
        (value) => value >= (definition.least ?? -Infinity),
        () => `must be at least ${definition.least}`
      )
    case "duration":
      return readDuration(text)
    case "url":
      return readUrl(text)
    case "host:port":
      return readHostPort(text)
    case "regexp":
      return readPattern(text)
    case "enum": {
      const choices = definition.choices ?? []
      return choices.includes(text.toLowerCase()) ? Either.right(text) : Either.left(oneOf(choices))
    }
    case "string-array":
      return Either.flatMap(readList(text), (values) => within(definition, values))
    case "struct":
      return Either.flatMap(parseYaml(text), (yaml) => readStructure(definition, yaml))
    case "string":
    case "yaml-config-path":
      return Either.right(text)
  }
}

/** Reads a value of a YAML file. */
export const readYaml = (definition: Definition, yaml: Yaml, parseYaml: YamlParser): Read<OptionValue> => {
  if (definition.type === "struct") return readStructure(definition, yaml)
  if (definition.type === "string-array" && yaml.kind === "list") {
    const items = yaml.items.map((item): Read<string> =>
      item.kind === "scalar" ? Either.right(item.text) : Either.left("must be a list of texts")
    )
    return Either.flatMap(Either.all(items), (values) => within(definition, values))
  }
  if (yaml.kind !== "scalar") return Either.left(definition.type === "string-array" ? "must be a list of texts" : "must be a single value")
  if (definition.type === "url" && isNull(yaml)) return Either.right("")
  if (definition.type === "url" && yaml.isPlain && /^[-+]?[\d.]+$/.test(yaml.text)) return Either.left("must be a URL")
  if (definition.type === "bool" && yaml.text === "") return Either.left("must be true or false")
  return readText(definition, yaml.text, parseYaml)
}
