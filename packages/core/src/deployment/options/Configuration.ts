/** The options in force: their values, and where these come from. deployment.md §2. */
import { Data, Duration, Either, Redacted } from "effect"
import { defaultOf, type Definition, type OptionType } from "./Definition.js"
import { definitions } from "./definitions.js"
import { type ExternalAuthEntry, type OptionValue, readText, readYaml, type SupportLink, type Yaml, type YamlParser } from "./readers.js"

/** An option by the name of its flag. */
export type Flag = keyof typeof definitions

/** The name of an option in a program: the flag's words without hyphens, each but the first with a capital. */
export type OptionName<F extends string> = F extends `${infer Word}-${infer Rest}` ? `${Word}${Capitalize<OptionName<Rest>>}` : F

const named = (flag: string): string => flag.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

const names: ReadonlyMap<string, string> = new Map(Object.keys(definitions).map((flag) => [flag, named(flag)]))

/** Returns the name of an option in a program. */
export const optionName = (flag: string): string => names.get(flag) ?? named(flag)

interface Values {
  readonly bool: boolean
  readonly int: number
  readonly string: string
  readonly "yaml-config-path": string
  readonly enum: string
  readonly "string-array": ReadonlyArray<string>
  /** Nanoseconds. */
  readonly duration: bigint
  readonly url: string
  readonly "host:port": string
  readonly regexp: string
}

interface Structures {
  readonly texts: Readonly<Record<string, string>>
  readonly lists: Readonly<Record<string, ReadonlyArray<string>>>
  readonly links: ReadonlyArray<SupportLink>
  readonly providers: ReadonlyArray<ExternalAuthEntry>
}

/** The type of an option's value. */
export type ValueOf<F extends Flag> = (typeof definitions)[F] extends { readonly structure: infer S extends keyof Structures }
  ? Structures[S]
  : (typeof definitions)[F] extends { readonly type: infer T extends keyof Values }
    ? Values[T]
    : never

type Timed = { readonly type: "duration" } | { readonly unit: "seconds" }

type SecretInput<A> = A extends string ? string | Redacted.Redacted<string> : ReadonlyArray<string | Redacted.Redacted<string>>

type SecretInForce<A> = A extends string ? Redacted.Redacted<string> : ReadonlyArray<Redacted.Redacted<string>>

/** A provider as a host writes it: what is left out follows from its type. */
export type ExternalAuthInput = Partial<Omit<ExternalAuthEntry, "client_id" | "client_secret">> &
  Pick<ExternalAuthEntry, "client_id"> & { readonly client_secret?: string | Redacted.Redacted<string> }

/** What a host writes for an option: durations as `Effect` takes them, secrets as texts or redacted, providers in part. */
export type InputOf<F extends Flag> = F extends "external-auth-providers" ? ReadonlyArray<ExternalAuthInput> : InputOfType<F>

type InputOfType<F extends Flag> = (typeof definitions)[F] extends Timed
  ? Duration.DurationInput
  : (typeof definitions)[F] extends { readonly secret: true }
    ? SecretInput<ValueOf<F>>
    : ValueOf<F>

/** What services read of an option: durations as `Duration`, secrets redacted. */
export type InForce<F extends Flag> = (typeof definitions)[F] extends Timed
  ? Duration.Duration
  : (typeof definitions)[F] extends { readonly secret: true }
    ? SecretInForce<ValueOf<F>>
    : ValueOf<F>

/** The options that no other one replaces. */
type CurrentFlag = { [F in Flag]: (typeof definitions)[F] extends { readonly useInstead: ReadonlyArray<string> } ? never : F }[Flag]

/** Options of an embedding application: the flags of `docs/options.md`, spelled as names of a program. Each may be left out. */
export type OptionInputs = { readonly [F in CurrentFlag as OptionName<F>]?: InputOf<F> | undefined }

/** The options that do something. */
type UsedFlag = { [F in Flag]: (typeof definitions)[F] extends { readonly unused: true } ? never : F }[Flag]

/** The options in force, spelled as names of a program. Services cannot read an option that is marked as unused. */
export type OptionsInForce = { readonly [F in UsedFlag as OptionName<F>]: InForce<F> }

export type Source = "flag" | "env" | "yaml" | "default" | ""

/** The text of an option in a source, before it is parsed. */
export type Given =
  | { readonly source: "flag" | "env"; readonly texts: ReadonlyArray<string>; readonly name: string }
  | { readonly source: "yaml"; readonly yaml: Yaml; readonly name: string }
  | { readonly source: Source; readonly value: OptionValue; readonly name: string }

/** A value that an option cannot have. The message is one sentence that names the option and its source, without secrets. */
export class OptionRefused extends Data.TaggedError("OptionRefused")<{
  readonly name: string
  readonly value?: string
  readonly reason: string
}> {
  override get message(): string {
    return `${this.name} ${this.reason}${this.value === undefined ? "" : `, not ${JSON.stringify(this.value.slice(0, 100))}`}`
  }
}

export interface Resolved {
  readonly value: OptionValue
  readonly source: Source
  /** How messages name the option where it was set. */
  readonly name: string
}

export interface Configuration {
  /** The first word of the variables. */
  readonly prefix: string
  /** All definitions that are in force: those of the library, and those that a program adds. */
  readonly definitions: Readonly<Record<string, Definition>>
  readonly resolved: ReadonlyMap<string, Resolved>
  readonly brand: string
}

const zeros: Readonly<Record<OptionType, OptionValue>> = {
  bool: false,
  int: 0,
  string: "",
  "yaml-config-path": "",
  enum: "",
  "string-array": [],
  duration: 0n,
  url: "",
  "host:port": "",
  regexp: "",
  struct: []
}

const rank: Readonly<Record<Source, number>> = { flag: 4, env: 3, yaml: 2, default: 1, "": 0 }

const read = (definition: Definition, given: Given, parseYaml: YamlParser): Either.Either<OptionValue, OptionRefused> => {
  const refused = (value: string | undefined) => (reason: string) =>
    new OptionRefused({ name: given.name, reason, ...(definition.secret === true || value === undefined ? {} : { value }) })
  if ("value" in given) return Either.right(given.value)
  if ("yaml" in given)
    return Either.mapLeft(readYaml(definition, given.yaml, parseYaml), refused(given.yaml.kind === "scalar" ? given.yaml.text : undefined))
  // A repeated flag adds to a list and replaces anything else
  const texts = definition.type === "string-array" ? given.texts : given.texts.slice(-1)
  const all: Array<OptionValue> = []
  for (const text of given.texts) {
    const value = readText(definition, text, parseYaml)
    if (Either.isLeft(value)) return Either.left(refused(definition.structure === undefined ? text : undefined)(value.left))
    all.push(value.right)
  }
  const kept = all.slice(-texts.length)
  return Either.right(
    definition.type === "string-array" ? kept.flatMap((one) => (Array.isArray(one) ? one : [])) : (kept[0] ?? zeros[definition.type])
  )
}

const yamlOf = (value: unknown): Yaml => {
  if (Array.isArray(value)) return { kind: "list", items: value.map(yamlOf) }
  if (typeof value !== "object" || value === null) return { kind: "scalar", text: String(value), isPlain: typeof value !== "string" }
  return { kind: "map", entries: new Map(Object.entries(value).map(([key, one]) => [key, yamlOf(one)])) }
}

const parseJson: YamlParser = (text) =>
  Either.mapLeft(
    Either.try(() => yamlOf(JSON.parse(text))),
    () => "must be JSON"
  )

/**
 * Reads a default value. A structure is written as JSON, and a pattern is known to be valid: neither needs a library, which would be
 * loaded with each start.
 */
const readDefault = (definition: Definition, flag: string, text: string): Either.Either<OptionValue, OptionRefused> =>
  definition.type === "regexp" ? Either.right(text) : read(definition, { source: "flag", texts: [text], name: `--${flag}` }, parseJson)

/**
 * Reads every option from what the sources say of it. Options that share a place in the report have the value of the one with the highest
 * source; at equal sources the replacement wins over the deprecated one.
 */
export const resolve = ({
  additions = {},
  brand,
  given,
  parseYaml,
  prefix
}: {
  readonly prefix: string
  readonly brand: string
  readonly given: (flag: string, definition: Definition) => Given | undefined
  readonly parseYaml: YamlParser
  readonly additions?: Readonly<Record<string, Definition>>
}): Either.Either<Configuration, OptionRefused> =>
  Either.gen(function* () {
    const all: Readonly<Record<string, Definition>> = { ...definitions, ...additions }
    const resolved = new Map<string, Resolved>()
    const byPath = new Map<string, string>()
    for (const [flag, definition] of Object.entries(all)) {
      const found = given(flag, definition)
      const fallback = defaultOf(definition, brand)
      if (found !== undefined)
        resolved.set(flag, { value: yield* read(definition, found, parseYaml), source: found.source, name: found.name })
      else if (fallback === undefined) {
        const zero = definition.structure === "texts" || definition.structure === "lists" ? {} : zeros[definition.type]
        resolved.set(flag, { value: zero, source: "", name: `--${flag}` })
      } else
        resolved.set(flag, {
          value: yield* readDefault(definition, flag, fallback),
          source: "default",
          name: `--${flag}`
        })
      if (definition.path === undefined) continue
      const other = byPath.get(definition.path)
      const [mine, theirs] = [resolved.get(flag), resolved.get(other ?? "")]
      const isHigher = mine !== undefined && (theirs === undefined || rank[mine.source] > rank[theirs.source])
      const isReplacement = mine !== undefined && theirs?.source === mine.source && definition.useInstead === undefined
      if (other === undefined || isHigher || isReplacement) byPath.set(definition.path, flag)
    }
    for (const [flag, { path }] of Object.entries(all)) {
      const shared = resolved.get(byPath.get(path ?? "") ?? flag)
      if (shared !== undefined) resolved.set(flag, shared)
    }
    return { prefix, brand, definitions: all, resolved }
  })

/** The value of an option. */
export const valueOf = <F extends Flag>(configuration: Configuration, flag: F): ValueOf<F> =>
  // The reader of the option's type made it
  configuration.resolved.get(flag)?.value as ValueOf<F>

/** Whether a source other than the default sets the option. */
export const isSet = (configuration: Configuration, flag: string): boolean => rank[configuration.resolved.get(flag)?.source ?? ""] > 1

/** A duration for services; negative ones count as zero. */
export const durationOf = (nanoseconds: bigint): Duration.Duration =>
  nanoseconds % 1_000_000n === 0n || nanoseconds < 0n
    ? Duration.millis(Math.max(0, Number(nanoseconds / 1_000_000n)))
    : Duration.nanos(nanoseconds)

const inForceOf = ({ secret, type, unit }: Definition, value: OptionValue): unknown => {
  if (type === "duration" && typeof value === "bigint") return durationOf(value)
  if (unit === "seconds") return Duration.seconds(Math.max(0, Number(value)))
  if (secret !== true) return value
  return Array.isArray(value) ? value.map((one) => Redacted.make(one)) : Redacted.make(value)
}

/** Returns the options in force as services read them. */
export const inForce = ({ definitions: all, resolved }: Configuration): OptionsInForce =>
  // `inForceOf` makes of each value what `InForce` says of its definition
  Object.fromEntries(
    Object.keys(definitions).flatMap((flag) => {
      const [definition, found] = [all[flag], resolved.get(flag)]
      return definition === undefined || found === undefined ? [] : [[optionName(flag), inForceOf(definition, found.value)]]
    })
  ) as unknown as OptionsInForce
