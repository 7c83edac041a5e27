import { neutralBrand } from "../ProductName.js"
import { Context, Either } from "effect"
import { type Configuration, resolve } from "./Configuration.js"
import type { Yaml } from "./readers.js"

const yamlOf = (value: unknown): Yaml => {
  if (Array.isArray(value)) return { kind: "list", items: value.map(yamlOf) }
  if (typeof value !== "object" || value === null) return { kind: "scalar", text: String(value), isPlain: typeof value !== "string" }
  return { kind: "map", entries: new Map(Object.entries(value).map(([key, one]) => [key, yamlOf(one)])) }
}

/** The default values, which are written as JSON where they are structures. */
export const defaultConfiguration = (): Configuration =>
  Either.getOrThrow(
    resolve({
      prefix: "SERVICE",
      brand: neutralBrand,
      given: () => undefined,
      parseYaml: (text) =>
        Either.mapLeft(
          Either.try(() => yamlOf(JSON.parse(text))),
          () => "must be JSON"
        )
    })
  )

/** The options in force, with their sources. deployment.md §2. */
export class DeploymentConfiguration extends Context.Reference<DeploymentConfiguration>()("@atelier/core/DeploymentConfiguration", {
  defaultValue: defaultConfiguration
}) {}
