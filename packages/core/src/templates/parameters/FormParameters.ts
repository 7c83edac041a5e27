/** A parameter as a form shows it. Pure. templates-and-provisioning.md §4.6; the texts are those that clients know. */
import {
  type Diagnostic,
  errorDiagnostic,
  type FormParameter,
  type FormStyling,
  type FormValidation,
  type ParameterForm
} from "../../provisioning/engines/ParameterForm.js"
import type { ParameterValue, RichParameter } from "../../provisioning/engines/SourceDefinitions.js"
import { optionValueViolation, brokenRuleOf } from "./ParameterValueRules.js"

/** What an engine knows of a parameter beyond its definition. */
export interface FormDetails {
  readonly styling?: FormStyling
  readonly diagnostics?: ReadonlyArray<Diagnostic>
}

const validationsOf = (definition: RichParameter): ReadonlyArray<FormValidation> => {
  const { validation_error, validation_max, validation_min, validation_monotonic, validation_regex } = definition
  const isRule =
    validation_error !== "" || validation_max !== null || validation_min !== null || validation_monotonic + validation_regex !== ""
  return isRule
    ? [
        {
          validation_error,
          validation_regex: validation_regex || null,
          validation_min,
          validation_max,
          validation_monotonic: validation_monotonic || null
        }
      ]
    : []
}

const optionDiagnostics = (definition: RichParameter): ReadonlyArray<Diagnostic> => {
  const names = new Set<string>()
  return definition.options.flatMap(({ name, value }) => {
    const repeated = names.has(name)
      ? [errorDiagnostic("Option names must be unique.", `multiple options found with the same name ${JSON.stringify(name)}`)]
      : []
    names.add(name)
    const detail = optionValueViolation(definition, value)
    const mistyped =
      detail === undefined
        ? []
        : [
            errorDiagnostic(
              `Option ${JSON.stringify(name)} with value=${JSON.stringify(value)} is not of type ${JSON.stringify(definition.type)}`,
              detail
            )
          ]
    return [...repeated, ...mistyped]
  })
}

const valueDiagnostics = (definition: RichParameter, value: string | undefined): ReadonlyArray<Diagnostic> => {
  if (value === undefined) return [errorDiagnostic("Required parameter not provided", "parameter value is null", "required")]
  // A form does not know the values of earlier builds
  const violation = brokenRuleOf(definition, value, undefined)
  return violation === undefined ? [] : [errorDiagnostic(violation.summary, violation.detail)]
}

/** The parameter with the value it would have: what was given, else its default. A broken rule is a diagnostic. */
export const formParameter = (
  definition: RichParameter,
  given: string | undefined,
  { diagnostics = [], styling = {} }: FormDetails = {}
): FormParameter => {
  const { default_value, required } = definition
  const value = given ?? (required ? undefined : default_value)
  const ofOptions = optionDiagnostics(definition)
  // No value can be judged by options that are broken themselves, and nothing by a form type that the parameter cannot have
  const judged = definition.form_type === "error" ? [] : ofOptions.length > 0 ? ofOptions : valueDiagnostics(definition, value)
  return {
    name: definition.name,
    display_name: definition.display_name,
    description: definition.description,
    type: definition.type,
    form_type: definition.form_type,
    styling,
    mutable: definition.mutable,
    default_value: { value: required ? "" : default_value, valid: !required },
    icon: definition.icon,
    options: definition.options.map((option) => ({ ...option, value: { value: option.value, valid: true } })),
    validations: validationsOf(definition),
    required,
    order: definition.order,
    ephemeral: definition.ephemeral,
    value: { value: value ?? "", valid: value !== undefined },
    diagnostics: [...diagnostics, ...judged]
  }
}

/** By their order, then by name as bytes. */
export const inFormOrder = (parameters: ReadonlyArray<FormParameter>): ReadonlyArray<FormParameter> =>
  parameters.toSorted((left, right) => left.order - right.order || compareBytes(left.name, right.name))

const utf8 = new TextEncoder()

/** UTF-16 sorts characters beyond the basic plane before some of those in it; bytes of UTF-8 do not. */
const compareBytes = (left: string, right: string): number => {
  const [one, other] = [utf8.encode(left), utf8.encode(right)]
  const index = one.findIndex((byte, at) => byte !== other[at])
  return index < 0 ? one.length - other.length : (one[index] ?? 0) - (other[index] ?? -1)
}

const notDynamic: Diagnostic = {
  severity: "warning",
  summary: "This template version is missing required metadata to support dynamic parameters.",
  detail: "To restore full functionality, please re-import the terraform as a new template version.",
  extra: { code: "" }
}

/**
 * The form of a version whose source is not evaluated: what its import found, which is nothing where the import failed. It warns of it.
 */
export const staticForm = (definitions: ReadonlyArray<RichParameter>, given: ReadonlyArray<ParameterValue>): ParameterForm => {
  const values = new Map(given.map(({ name, value }) => [name, value]))
  return {
    diagnostics: [notDynamic],
    parameters: inFormOrder(definitions.map((definition) => formParameter(definition, values.get(definition.name))))
  }
}

/** The definition of a parameter as a form shows it. */
export const definitionOf = (parameter: FormParameter): RichParameter => {
  const [validation] = parameter.validations
  const monotonic = validation?.validation_monotonic
  return {
    name: parameter.name,
    display_name: parameter.display_name,
    description: parameter.description,
    type: parameter.type,
    form_type: parameter.form_type === "" ? "input" : parameter.form_type,
    mutable: parameter.mutable,
    ephemeral: parameter.ephemeral,
    required: parameter.required,
    default_value: parameter.default_value.value,
    icon: parameter.icon,
    options: parameter.options.map((option) => ({ ...option, value: option.value.value })),
    validation_regex: validation?.validation_regex ?? "",
    validation_error: validation?.validation_error ?? "",
    validation_min: validation?.validation_min ?? null,
    validation_max: validation?.validation_max ?? null,
    validation_monotonic: monotonic === "increasing" || monotonic === "decreasing" ? monotonic : "",
    order: parameter.order
  }
}
