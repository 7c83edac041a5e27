import { neutralBrand } from "../ProductName.js"
import { Context, Either } from "effect"
import { type Configuration, resolve } from "./Configuration.js"

/** The default values. */
export const defaultConfiguration = (): Configuration =>
  Either.getOrThrow(
    resolve({
      prefix: "SERVICE",
      brand: neutralBrand,
      given: () => undefined,
      parseYaml: () => Either.left("is not read where no option is given")
    })
  )

/** The options in force, with their sources. deployment.md §2. */
export class DeploymentConfiguration extends Context.Reference<DeploymentConfiguration>()("@atelier/core/DeploymentConfiguration", {
  defaultValue: defaultConfiguration
}) {}
