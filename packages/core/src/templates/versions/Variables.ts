/** The values of a source's variables. templates-and-provisioning.md §4.1. */
import { Either } from "effect"
import { ProvisionFailure } from "../../provisioning/engines/ProvisionerEngine.js"
import type { TemplateVariable, UserVariableValue } from "../../provisioning/engines/SourceDefinitions.js"
import type { TemplateVersionVariable } from "./TemplateVersionDefinitions.js"

/** Each variable with its value in an import: the first given value, else the active version's, else the default. */
export const variablesWithValues = (
  variables: ReadonlyArray<TemplateVariable>,
  given: ReadonlyArray<UserVariableValue>,
  active: ReadonlyArray<UserVariableValue>
): ReadonlyArray<TemplateVersionVariable> => {
  const values = new Map([...active, ...given.toReversed()].map(({ name, value }) => [name, value]))
  return variables.map((variable) => ({ ...variable, value: values.get(variable.name) ?? variable.default_value }))
}

/** Returns `variablesWithValues`. Fails, with the code that makes clients ask for values, if a required one would be empty. */
export const resolveVariables = (
  variables: ReadonlyArray<TemplateVariable>,
  given: ReadonlyArray<UserVariableValue>,
  active: ReadonlyArray<UserVariableValue>
): Either.Either<ReadonlyArray<TemplateVersionVariable>, ProvisionFailure> => {
  const resolved = variablesWithValues(variables, given, active)
  const missing = resolved.filter(({ required, value }) => required && value === "")
  if (missing.length === 0) return Either.right(resolved)
  return Either.left(
    new ProvisionFailure({
      // Clients and daemons recognise the words "required template variables"
      message: `required template variables need values: ${missing.map(({ name }) => name).join(", ")}`,
      code: "REQUIRED_TEMPLATE_VARIABLES"
    })
  )
}

/** Shown to readers in place of a sensitive value. */
export const redacted = "*redacted*"

/** A variable as readers see it. */
export const withoutSecrets = (variable: TemplateVersionVariable): TemplateVersionVariable =>
  variable.sensitive ? { ...variable, value: redacted, default_value: redacted } : variable
