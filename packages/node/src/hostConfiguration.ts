/** An application's options as the configuration of a deployment. deployment.md §2. */
import {
  checked,
  type Configuration,
  type Definition,
  type Given,
  givenByHost,
  optionDefinitions,
  optionName,
  type OptionRefused,
  resolve
} from "@atelier/core/deployment"
import { HostOptions, StartError } from "@atelier/core/platform"
import { Either } from "effect"
import { parseYamlOptions } from "./YamlOptions.js"

const definitions: Readonly<Record<string, Definition>> = optionDefinitions

const names: ReadonlyMap<string, string> = new Map(Object.keys(definitions).map((flag) => [flag, optionName(flag)]))

/** Rules name options by their flags; a host knows them by their names in a program. */
const inProgramNames = (reason: string): string => reason.replaceAll(/[a-z0-9]+(?:-[a-z0-9]+)+/g, (flag) => names.get(flag) ?? flag)

const refused = ({ name: source, reason, value }: OptionRefused): StartError => {
  // A default comes from no source, and is named by its flag
  const name = names.get(source.replace(/^--/, "")) ?? source
  return new StartError({
    option: name === "accessUrl" ? name : `options.${name}`,
    reason: inProgramNames(reason),
    ...(value === undefined ? {} : { value })
  })
}

/** What the host gives of each option. Refuses names that no option has: they are mostly spelled wrongly. */
const givenOf = (options: Readonly<Record<string, unknown>>): Either.Either<ReadonlyMap<string, Given>, OptionRefused> => {
  const flags = new Map([...names].map(([flag, name]) => [name, flag]))
  const given = new Map<string, Given>()
  for (const [name, value] of Object.entries(options)) {
    const flag = flags.get(name) ?? ""
    const definition = definitions[flag]
    if (definition === undefined) throw HostOptions.unknownName(`options.${name}`, flags.keys())
    if (value === undefined) continue
    const read = givenByHost(flag, definition, value)
    if (Either.isLeft(read)) return Either.left(read.left)
    given.set(flag, read.right)
  }
  return Either.right(given)
}

/**
 * Returns the configuration that a program's options make, by the names that `docs/options.md` lists, without hyphens. `brand` is the product's word, and
 * `prefix` begins the names of environment variables. Throws `StartError` for an option that cannot be.
 */
export const hostConfiguration = (
  options: Readonly<Record<string, unknown>>,
  { brand, prefix }: { readonly brand: string; readonly prefix: string }
): Configuration => {
  const resolved = Either.flatMap(givenOf(options), (given) =>
    resolve({ prefix, brand, given: (flag) => given.get(flag), parseYaml: parseYamlOptions })
  )
  return Either.getOrThrowWith(Either.flatMap(resolved, checked), refused)
}
