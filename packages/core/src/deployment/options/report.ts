/** How options are reported to clients, and written as a YAML file. deployment.md §2. */
import type { Configuration, Resolved } from "./Configuration.js"
import { defaultOf, type Definition, variableOf, yamlPathOf } from "./Definition.js"
import { durationText, type ExternalAuthEntry, type OptionValue } from "./readers.js"

/** What a structure shows: secrets inside of it are left out. */
const shown = ({ structure }: Definition, value: OptionValue): unknown =>
  structure === "providers" && Array.isArray(value)
    ? value.map((entry: ExternalAuthEntry) => {
        const { client_secret: _, extra_token_keys: __, redirect_url: ___, ...rest } = entry
        return rest
      })
    : value

/** Each word of a header's name begins with a capital. RFC 9110 §5.1: the case has no meaning. */
const canonicalHeader = (name: string): string => name.toLowerCase().replaceAll(/(^|-)[a-z]/g, (start) => start.toUpperCase())

const wireOf = (definition: Definition, { source, value }: Resolved): unknown => {
  if (typeof value === "bigint") return Number(value)
  if (Array.isArray(value) && value.length === 0 && source === "") return null
  if (definition.headers === true && Array.isArray(value)) return value.map((name) => canonicalHeader(String(name)))
  return shown(definition, value)
}

const isZero = (value: unknown): boolean =>
  value === false || value === 0 || value === "" || value === null || (Array.isArray(value) && value.length === 0)

interface GroupView {
  readonly name: string
  readonly yaml?: string
  readonly parent?: GroupView
}

/** How an option is reported. Keys with empty values are left out. */
export interface Descriptor {
  readonly name: string
  readonly description: string
  readonly flag: string
  readonly flag_shorthand?: string
  readonly env?: string
  readonly yaml?: string
  readonly default?: string
  readonly value?: unknown
  readonly annotations?: Readonly<Record<string, string>>
  readonly group?: GroupView
  readonly use_instead?: ReadonlyArray<Descriptor>
  readonly hidden?: boolean
  readonly value_source?: string
}

const present = <A extends object>(fields: A): { readonly [K in keyof A]?: Exclude<A[K], undefined> } =>
  // The filter removes undefined values
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as { [K in keyof A]?: Exclude<A[K], undefined> }

const annotationsOf = ({ annotations, secret, type }: Definition): Readonly<Record<string, string>> | undefined => {
  const all = {
    ...annotations,
    ...(secret === true ? { secret: "true" } : {}),
    ...(type === "duration" ? { format_duration: "true" } : {})
  }
  return Object.keys(all).length === 0 ? undefined : all
}

const descriptorOf = (configuration: Configuration, flag: string, isNested: boolean): Descriptor | undefined => {
  const definition = configuration.definitions[flag]
  const resolved = configuration.resolved.get(flag)
  if (definition === undefined || resolved === undefined) return undefined
  const { description, group, hidden, name, secret, shorthand, useInstead, yaml } = definition
  return {
    name,
    description,
    flag,
    ...(secret === true ? {} : { value: wireOf(definition, resolved) }),
    ...present({
      flag_shorthand: shorthand,
      env: variableOf(flag, definition, configuration.prefix),
      yaml,
      default: defaultOf(definition, configuration.brand),
      annotations: annotationsOf(definition),
      group,
      hidden: hidden === true ? true : undefined,
      value_source: resolved.source === "" || isNested ? undefined : resolved.source,
      use_instead: isNested ? undefined : useInstead?.flatMap((other) => descriptorOf(configuration, other, true) ?? [])
    })
  }
}

interface Tree {
  [key: string]: unknown
}

const isTree = (value: unknown): value is Tree => typeof value === "object" && value !== null && !Array.isArray(value)

/** Puts a value at a path of keys; what stands there already gives way. */
const put = (tree: Tree, [key = "", ...rest]: ReadonlyArray<string>, value: unknown): void => {
  if (rest.length === 0) {
    tree[key] = value
    return
  }
  const inner = tree[key]
  const next = isTree(inner) ? inner : {}
  tree[key] = next
  put(next, rest, value)
}

/** Opens the way to a value that is left out. */
const open = (tree: Tree, path: ReadonlyArray<string>): void => {
  const [key = "", ...rest] = path
  if (rest.length === 0) return
  const inner = tree[key]
  const next = isTree(inner) ? inner : {}
  tree[key] = next
  open(next, rest)
}

/** The configuration as clients see it, without secrets at any depth. */
export const report = (
  configuration: Configuration
): { readonly config: Readonly<Record<string, unknown>>; readonly options: ReadonlyArray<Descriptor> } => {
  const config: Tree = {}
  const options: Array<Descriptor> = []
  for (const [flag, definition] of Object.entries(configuration.definitions)) {
    const descriptor = descriptorOf(configuration, flag, false)
    if (descriptor !== undefined) options.push(descriptor)
    const resolved = configuration.resolved.get(flag)
    if (definition.path === undefined || resolved === undefined) continue
    const empty = definition.type === "string-array" ? null : ""
    const value = definition.secret === true ? empty : wireOf(definition, resolved)
    const path = definition.path.split(".")
    if (definition.omittedWhenZero === true && isZero(value)) open(config, path)
    else put(config, path, value)
  }
  put(config, ["telemetry", "trace"], false)
  return { config, options }
}

/** The values that a source has set, nested as in a YAML file, with texts as they are typed. Secrets are left out. */
export const writable = (configuration: Configuration): Readonly<Record<string, unknown>> => {
  const tree: Tree = {}
  for (const [flag, definition] of Object.entries(configuration.definitions)) {
    const path = yamlPathOf(definition)
    const resolved = configuration.resolved.get(flag)
    if (path === undefined || resolved === undefined || definition.secret === true || definition.useInstead !== undefined) continue
    if (resolved.source === "") continue
    put(tree, path, typeof resolved.value === "bigint" ? durationText(resolved.value) : shown(definition, resolved.value))
  }
  return tree
}
