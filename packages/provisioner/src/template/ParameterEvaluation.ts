/** The values of a template's variables and parameters. templates-and-provisioning.md §4.1–4.3. */
import { nextTurn } from "@atelier/core/platform"
import {
  errorDiagnostic,
  type FormParameter,
  type FormStyling,
  type ParameterForm,
  type RichParameter,
  type TemplateVariable
} from "@atelier/core/provisioning"
import { formParameter, inFormOrder, parameterValueViolation, truthOf } from "@atelier/core/templates"
import { Clock, Effect, Either } from "effect"
import { type Evaluator, maximumText } from "./Evaluator.js"
import { TemplateText } from "./Expression.js"
import { render } from "./Interpolation.js"
import { allowedFormTypes, typeProblem } from "../engine/ParameterRules.js"
import type { Value } from "./definition/Field.js"
import type { Parameter } from "./definition/Parameter.js"
import type { Template } from "./TemplateSource.js"
import { formatProblem, type Path } from "./YamlSource.js"

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

/** A parameter with values in its texts, and where it and its options stand in the template. */
interface Defined {
  readonly rich: RichParameter
  readonly parameter: Parameter
  readonly path: Path
  readonly optionPaths: ReadonlyArray<Path>
}

const defineParameter = (evaluator: Evaluator, parameter: Parameter, path: Path): Defined => {
  const { name, type, validation } = parameter
  const options = evaluator.present(parameter.options, [...path, "options"], ({ description, icon, name, value }, at) => ({
    at,
    option: {
      name: evaluator.text(name, [...at, "name"], 256),
      description: evaluator.text(description, [...at, "description"]),
      value: evaluator.value(value, [...at, "value"]),
      icon: evaluator.text(icon, [...at, "icon"], 256)
    }
  }))
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
    options: options.map(({ option }) => option),
    validation_regex: validation?.regex ?? "",
    validation_error: validation?.error ?? "",
    validation_min: validation?.min ?? null,
    validation_max: validation?.max ?? null,
    validation_monotonic: validation?.monotonic ?? "",
    order: parameter.order
  }
  return { rich, parameter, path, optionPaths: options.map(({ at }) => at) }
}

/** Reports the options and the default that are wrong whatever a user chooses. */
const checkDefinition = (evaluator: Evaluator, { optionPaths, parameter, path, rich }: Defined): void => {
  const { options } = rich
  // The value of a multi-select is a list of its options' values
  const type = rich.type === "list(string)" && rich.form_type === "multi-select" ? "string" : rich.type
  options.forEach(({ name, value }, index) => {
    const at = optionPaths[index] ?? path
    const wrong = typeProblem(type, value)
    if (wrong !== undefined) evaluator.report([...at, "value"], wrong)
    if (options.findIndex((other) => other.name === name) < index) evaluator.report([...at, "name"], `${JSON.stringify(name)} occurs twice`)
    if (options.findIndex((other) => other.value === value) < index)
      evaluator.report([...at, "value"], `${JSON.stringify(value)} occurs twice`)
  })
  // A default made of a value that is not known yet is known to be wrong only later
  const isOpen = rich.default_value === "" && parameter.default instanceof TemplateText && parameter.default.source !== ""
  const wrong = rich.required || isOpen ? undefined : parameterValueViolation(rich, rich.default_value, undefined)
  if (wrong !== undefined) evaluator.report([...path, "default"], wrong)
}

/** What a value is to expressions: the words for true and false are one each. */
const expressionValue = ({ type }: RichParameter, value: string): string => (type === "bool" ? String(truthOf(value) ?? value) : value)

/** From top to bottom, so that a parameter's definition may depend on the values of those above it. */
export const resolveParameters = (
  evaluator: Evaluator
): { readonly parameters: ReadonlyArray<RichParameter>; readonly problems: ReadonlyArray<ParameterProblem> } => {
  const given = new Map(evaluator.input.parameters.map(({ name, value }) => [name, value]))
  const problems: Array<ParameterProblem> = []
  const parameters = evaluator.present(evaluator.template.definition.parameters, ["parameters"], (parameter, path) => {
    const defined = defineParameter(evaluator, parameter, path)
    const { rich } = defined
    checkDefinition(evaluator, defined)
    const value = given.get(rich.name)
    evaluator.parameterValues.set(rich.name, expressionValue(rich, value ?? rich.default_value))
    if (value === undefined && rich.required) problems.push({ name: rich.name, missing: true, cause: "has no value" })
    const wrong = value === undefined ? undefined : parameterValueViolation(rich, value, undefined)
    if (wrong !== undefined) problems.push({ name: rich.name, missing: false, cause: wrong })
    return rich
  })
  return { parameters, problems }
}

const stylingOf = (evaluator: Evaluator, { styling = {} }: Parameter, path: Path): FormStyling => {
  const { label, placeholder, ...switches } = styling
  const at = (key: string): Path => [...path, "styling", key]
  return {
    ...switches,
    ...(label === undefined ? {} : { label: evaluator.text(label, at("label"), 256) }),
    ...(placeholder === undefined ? {} : { placeholder: evaluator.text(placeholder, at("placeholder"), 256) })
  }
}

/** Milliseconds for which a form is evaluated before others have their turn. */
const turn = 10

/** As `resolveParameters`, for a user who fills in a form: each parameter has its own problems. */
export const evaluateForm = (evaluator: Evaluator): Effect.Effect<ParameterForm> =>
  Effect.gen(function* () {
    const given = new Map(evaluator.input.parameters.map(({ name, value }) => [name, value]))
    const parameters: Array<FormParameter> = []
    let begunAt = yield* Clock.currentTimeMillis
    for (const [index, parameter] of evaluator.template.definition.parameters.entries()) {
      if ((yield* Clock.currentTimeMillis) - begunAt > turn) {
        yield* nextTurn
        begunAt = yield* Clock.currentTimeMillis
      }
      const path = ["parameters", index]
      const before = evaluator.problems.length
      if (!evaluator.exists(parameter.when, path)) continue
      const { rich } = defineParameter(evaluator, parameter, path)
      const value = given.get(rich.name)
      evaluator.parameterValues.set(rich.name, expressionValue(rich, value ?? rich.default_value))
      const styling = stylingOf(evaluator, parameter, path)
      const diagnostics = evaluator.problems
        .slice(before)
        .map((problem) => errorDiagnostic("The parameter cannot be evaluated", formatProblem(problem)))
      parameters.push(formParameter(rich, value, { styling, diagnostics }))
    }
    return { diagnostics: [], parameters: inFormOrder(parameters) }
  })
