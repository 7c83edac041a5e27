/** The values of a template's variables and parameters. templates-and-provisioning.md §4.1–4.3. */
import type { RichParameter, TemplateVariable } from "@atelier/core/provisioning"
import { parameterValueViolation } from "@atelier/core/templates"
import { Either } from "effect"
import { type Evaluator, maximumText } from "./Evaluator.js"
import { TemplateText } from "./Expression.js"
import { render } from "./Interpolation.js"
import { allowedFormTypes, typeProblem } from "./ParameterRules.js"
import type { Parameter, Value } from "./TemplateFile.js"
import type { Template } from "./TemplateSource.js"
import type { Path } from "./YamlSource.js"

/** Why a given parameter value does not make a workspace: it is missing, or the type or the options refuse it. */
export interface ParameterProblem {
  readonly name: string
  readonly missing: boolean
  readonly cause: string
}

/** The template's variables, before any value is known. */
export const templateVariables = (template: Template): ReadonlyArray<TemplateVariable> =>
  template.definition.variables.map(({ default: value, description, name, sensitive, type }) => ({
    name,
    description: description ?? "",
    type,
    default_value: value === undefined ? "" : literal(value),
    required: value === undefined,
    sensitive
  }))

/** A value of a part of the template where nothing can be referred to. */
const literal = (value: Value): string => {
  if (value instanceof TemplateText)
    return Either.getOrElse(
      render(value, () => "", maximumText),
      () => ""
    )
  return typeof value === "object" ? JSON.stringify(value.map(literal)) : String(value)
}

/** Gives every variable its value; answers the required ones that have none. */
export const resolveVariables = (evaluator: Evaluator): ReadonlyArray<string> => {
  const given = new Map(evaluator.input.variables.map(({ name, value }) => [name, value]))
  const missing: Array<string> = []
  templateVariables(evaluator.template).forEach(({ default_value, name, required, type }, index) => {
    const value = given.get(name) || default_value
    if (value === "" && required) missing.push(name)
    evaluator.variableValues.set(name, value)
    const wrong = value === "" || !isValueType(type) ? undefined : typeProblem(type, value)
    if (wrong !== undefined) evaluator.report(["variables", index, "name"], `the value of "${name}" is of type ${type}, and ${wrong}`)
  })
  return missing
}

const isValueType = (type: string): type is Parameter["type"] =>
  type === "string" || type === "number" || type === "bool" || type === "list(string)"

const parameterOptions = (evaluator: Evaluator, parameter: Parameter, path: Path): RichParameter["options"] => {
  const options = parameter.options.map(({ description, icon, name, value }, index) => {
    const at = [...path, "options", index]
    return {
      name: evaluator.text(name, [...at, "name"], 256),
      description: evaluator.text(description, [...at, "description"]),
      value: evaluator.value(value, [...at, "value"]),
      icon: evaluator.text(icon, [...at, "icon"], 256)
    }
  })
  // The value of a multi-select is a list of its options' values
  const type = parameter.type === "list(string)" && parameter.form_type === "multi-select" ? "string" : parameter.type
  options.forEach(({ name, value }, index) => {
    const at = [...path, "options", index]
    const wrong = typeProblem(type, value)
    if (wrong !== undefined) evaluator.report([...at, "value"], wrong)
    if (options.findIndex((other) => other.name === name) < index) evaluator.report([...at, "name"], `${JSON.stringify(name)} occurs twice`)
    if (options.findIndex((other) => other.value === value) < index)
      evaluator.report([...at, "value"], `${JSON.stringify(value)} occurs twice`)
  })
  return options
}

const richParameter = (evaluator: Evaluator, parameter: Parameter, path: Path): RichParameter => {
  const { name, type, validation } = parameter
  const options = parameterOptions(evaluator, parameter, path)
  const rich: RichParameter = {
    name,
    display_name: evaluator.text(parameter.display_name, [...path, "display_name"], 256),
    description: evaluator.text(parameter.description, [...path, "description"]),
    type,
    form_type: parameter.form_type ?? allowedFormTypes(type, options.length > 0)[0],
    mutable: parameter.mutable,
    ephemeral: parameter.ephemeral,
    required: parameter.default === undefined,
    default_value: parameter.default === undefined ? "" : evaluator.value(parameter.default, [...path, "default"]),
    icon: evaluator.text(parameter.icon, [...path, "icon"], 256),
    options,
    validation_regex: validation?.regex ?? "",
    validation_error: validation?.error ?? "",
    validation_min: validation?.min ?? null,
    validation_max: validation?.max ?? null,
    validation_monotonic: validation?.monotonic ?? "",
    order: parameter.order
  }
  // A default made of a value that is not known yet is known to be wrong only later
  const isOpen = rich.default_value === "" && parameter.default instanceof TemplateText && parameter.default.source !== ""
  const wrong = rich.required || isOpen ? undefined : parameterValueViolation(rich, rich.default_value, undefined)
  if (wrong !== undefined) evaluator.report([...path, "default"], wrong)
  return rich
}

/** From top to bottom, so that a parameter's definition may depend on the values of those above it. */
export const resolveParameters = (
  evaluator: Evaluator
): { readonly parameters: ReadonlyArray<RichParameter>; readonly problems: ReadonlyArray<ParameterProblem> } => {
  const given = new Map(evaluator.input.parameters.map(({ name, value }) => [name, value]))
  const problems: Array<ParameterProblem> = []
  const parameters = evaluator.present(evaluator.template.definition.parameters, ["parameters"], (parameter, path) => {
    const rich = richParameter(evaluator, parameter, path)
    const value = given.get(rich.name)
    evaluator.parameterValues.set(rich.name, value ?? rich.default_value)
    if (value === undefined && rich.required) problems.push({ name: rich.name, missing: true, cause: "has no value" })
    const wrong = value === undefined ? undefined : parameterValueViolation(rich, value, undefined)
    if (wrong !== undefined) problems.push({ name: rich.name, missing: false, cause: wrong })
    return rich
  })
  return { parameters, problems }
}
