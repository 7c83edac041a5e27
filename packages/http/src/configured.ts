/** An application's options as the configuration of a deployment. deployment.md §2. */
import {
  checked,
  type Configuration,
  givenByHost,
  optionDefinitions,
  optionName,
  type OptionRefused,
  resolve
} from "@atelier/core/deployment"
import { StartError } from "@atelier/core/platform"
import { parseYamlOptions } from "@atelier/node"
import { Either } from "effect"
import type { Names } from "./Brand.js"
import type { Options } from "./Options.js"

const names: ReadonlyMap<string, string> = new Map(Object.keys(optionDefinitions).map((flag) => [flag, optionName(flag)]))

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

/** Refuses names that no option has: they are mostly spelled wrongly. */
const refuseUnknown = (given: Readonly<Record<string, unknown>>): void => {
  const known = new Set(names.values())
  const unknown = Object.keys(given).find((name) => !known.has(name))
  if (unknown !== undefined) throw new StartError({ option: `options.${unknown}`, reason: "is no option of a deployment" })
}

/** Refuses TLS, which the host's server speaks. */
const refuseTls = (given: Readonly<Record<string, unknown>>): void => {
  if (given["tlsEnable"] !== true) return
  throw new StartError({ option: "options.tlsEnable", reason: "is for the standalone server: the server of the application serves TLS" })
}

/** The configuration in force. Throws `StartError` for an option that cannot be. */
export const configured = ({ accessUrl, configuration, options }: Options, { environmentPrefix, word }: Names): Configuration => {
  if (configuration !== undefined) return configuration
  const given: Readonly<Record<string, unknown>> = { ...options, accessUrl }
  refuseUnknown(given)
  refuseTls(given)
  return Either.getOrThrowWith(
    Either.flatMap(
      resolve({
        prefix: environmentPrefix.replace(/_$/, ""),
        brand: word,
        given: (flag, definition) => {
          const value = given[optionName(flag)]
          return value === undefined ? undefined : givenByHost(flag, definition, value)
        },
        parseYaml: parseYamlOptions
      }),
      checked
    ),
    refused
  )
}
