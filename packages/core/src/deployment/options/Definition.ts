/** How an option of a deployment is declared. deployment.md §2. */
export type OptionType =
  | "bool"
  | "int"
  | "string"
  | "yaml-config-path"
  | "enum"
  | "string-array"
  | "duration"
  | "url"
  | "host:port"
  | "regexp"
  | "struct"

/** What a structure holds: texts by name, lists of texts by name, links, or external authentication providers. */
export type Structure = "texts" | "lists" | "links" | "providers"

/** A section of options; the keys of its parents and its own make the path in a YAML file. */
export interface OptionGroup {
  readonly name: string
  readonly yaml?: string
  readonly parent?: OptionGroup
}

export interface Definition {
  readonly name: string
  readonly type: OptionType
  readonly description: string
  /** As typed on a command line; none where the zero value of the type stands. */
  readonly default?: string
  readonly structure?: Structure
  /** The texts that an enumeration takes, in any case. */
  readonly choices?: ReadonlyArray<string>
  /** The texts that each entry of a list may have. */
  readonly each?: ReadonlyArray<string>
  /** The entries are names of headers, which are reported in their usual form. */
  readonly headers?: boolean
  /** What a number counts, where it is a time. */
  readonly unit?: "seconds"
  /** The least number. */
  readonly least?: number
  /** The flag of one letter. */
  readonly shorthand?: string
  /** The variable without the deployment's prefix, where it does not follow from the flag; null if no variable sets the option. */
  readonly env?: string | null
  /** The key within the group in a YAML file; without it, a file cannot set the option. */
  readonly yaml?: string
  readonly group?: OptionGroup
  /** Where the value stands in the reported configuration. Several options may share a place. */
  readonly path?: string
  readonly omittedWhenZero?: boolean
  readonly hidden?: boolean
  /** The value is never shown. */
  readonly secret?: boolean
  readonly annotations?: Readonly<Record<string, string>>
  /** The options that replace a deprecated one. */
  readonly useInstead?: ReadonlyArray<string>
  /** The product reports the option and does nothing with it. */
  readonly unused?: boolean
  /** Why an unused option cannot be set to another value than its default: an operator would rely on what does not happen. */
  readonly refusal?: string
}

/** Variables whose name has no prefix. */
const unprefixed: ReadonlySet<string> = new Set(["WGTUNNEL_HOST"])

/** The variable of an option; undefined where it has none. */
export const variableOf = (flag: string, { env }: Definition, prefix: string): string | undefined => {
  if (env === null) return undefined
  const name = env ?? flag.toUpperCase().replaceAll("-", "_")
  return unprefixed.has(name) ? name : `${prefix}_${name}`
}

/** The keys that lead to an option in a YAML file; undefined where a file cannot set it. */
export const yamlPathOf = ({ group, yaml }: Definition): ReadonlyArray<string> | undefined => {
  if (yaml === undefined) return undefined
  const path = [yaml]
  for (let at = group; at !== undefined; at = at.parent) if (at.yaml !== undefined) path.unshift(at.yaml)
  return path
}

/** A brand as one word of lower-case letters, digits and dashes, which host names and folders can hold. */
const brandWord = (brand: string): string =>
  brand
    .toLowerCase()
    .replace(/[^0-9a-z]+/g, "-")
    .replace(/^-|-$/g, "")

/** The text of an option's default; undefined for an option without one. */
export const defaultOf = (definition: Definition, brand: string): string | undefined =>
  definition.default?.replace("{brand}", brandWord(brand))
