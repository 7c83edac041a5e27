/** A parameter of a template in Terraform's language, as its form shows it. templates-and-provisioning.md §4.5, §4.6. */
import {
  type Diagnostic,
  errorDiagnostic,
  type FormParameter,
  type FormStyling,
  type FormType,
  type FormValue,
  type RichParameter
} from "@atelier/core/provisioning"
import { formParameter } from "@atelier/core/templates"
import { Either } from "effect"
import { allowedFormTypes } from "@atelier/provisioner/engine"
import type { Expression } from "./Expressions.js"
import { valueOrNone } from "./Modules.js"
import { Place } from "./Root.js"
import { EvaluationError } from "./EvaluationError.js"
import { settled, toText, unknown } from "./Values.js"

const sourced = "The value of a parameter is required to be sourced (default or input) for the parameter to function."

const types = ["string", "number", "bool", "list(string)"] as const
const formTypes = ["radio", "slider", "input", "dropdown", "checkbox", "switch", "multi-select", "tag-select", "textarea", "error"] as const

const oneOf = <A extends string>(words: ReadonlyArray<A>, text: string): A | undefined => words.find((word) => word === text)

const stylingOf = (place: Place): FormStyling => {
  const json = place.text("styling")
  if (json === "") return {}
  const value = valueOrNone((): unknown => {
    try {
      return JSON.parse(json)
    } catch {
      throw new EvaluationError({ cause: "the styling is not JSON" })
    }
  })
  if (typeof value !== "object" || value === null) return {}
  const given = new Map(Object.entries(value))
  const text = (name: "placeholder" | "label") => {
    const found: unknown = given.get(name)
    return typeof found === "string" ? { [name]: found } : {}
  }
  const flag = (name: "disabled" | "mask_input") => {
    const found: unknown = given.get(name)
    return typeof found === "boolean" ? { [name]: found } : {}
  }
  return { ...text("placeholder"), ...flag("disabled"), ...text("label"), ...flag("mask_input") }
}

interface Option {
  readonly name: string
  readonly description: string
  readonly icon: string
  readonly value: FormValue
}

const optionsOf = (place: Place): ReadonlyArray<Option> =>
  place.module.nested(place.body, "option", place.names).map(({ body, names }) => {
    const option = new Place(place.module, body, names)
    const value = option.known("value")
    return {
      name: option.text("name"),
      description: option.text("description"),
      icon: option.text("icon"),
      value: { value: value ?? "", valid: value !== undefined }
    }
  })

type Validation = Pick<
  RichParameter,
  "validation_regex" | "validation_error" | "validation_min" | "validation_max" | "validation_monotonic"
>

const validationOf = (place: Place): Validation => {
  const [block] = place.module.nested(place.body, "validation", place.names)
  const rule = block === undefined ? undefined : new Place(place.module, block.body, block.names)
  return {
    validation_regex: rule?.text("regex") ?? "",
    validation_error: rule?.text("error") ?? "",
    validation_min: rule?.number("min") ?? null,
    validation_max: rule?.number("max") ?? null,
    validation_monotonic: oneOf(["increasing", "decreasing"], rule?.text("monotonic") ?? "") ?? ""
  }
}

/** What is wrong with the direction of a number, in Terraform's words. */
const directionProblem = (place: Place): Diagnostic | undefined => {
  const [block] = place.module.nested(place.body, "validation", place.names)
  const direction = block === undefined ? "" : new Place(place.module, block.body, block.names).text("monotonic")
  return ["", "increasing", "decreasing"].includes(direction)
    ? undefined
    : errorDiagnostic(
        "Invalid parameter value according to 'validation' block",
        'number monotonicity can be either "increasing" or "decreasing"'
      )
}

/** What a parameter adds to the form: itself, or what keeps it out. */
type Shown = Either.Either<FormParameter, Diagnostic>

const refused = (summary: string, detail: string): Shown => Either.left(errorDiagnostic(summary, detail))

/** What is wrong with a form type, in the words that clients know. */
const formTypeProblem = (type: RichParameter["type"], form: FormType, hasOptions: boolean): Diagnostic | undefined => {
  const allowed = [...new Set(allowedFormTypes(type, hasOptions))]
  if (allowed.includes(form)) return undefined
  const isForOptions = new Set(allowedFormTypes(type, !hasOptions)).has(form)
  const when = isForOptions ? ` when options ${hasOptions ? "exist" : "do not exist"}` : ""
  return errorDiagnostic(
    `Invalid parameter \`type="${type}"\` and \`form_type="${form}"\``,
    `"form_type" attribute="${form}" is not supported for "type"="${type}"${when}, choose one of [${allowed.join(" ")}]`
  )
}

/** Functions whose result may be of any type. */
const ofAnyType = new Set(["try", "element", "index", "lookup", "contains", "jsondecode", "yamldecode", "one", "coalesce"])

/** Whether an expression has the same type for all values in it. */
const hasType = (expression: Expression): boolean =>
  expression.kind === "call" ? !ofAnyType.has(expression.name) : !["attribute", "index", "reference"].includes(expression.kind)

/** The default as a text; `problem` says why it is missing. */
const defaultOf = (place: Place): { readonly text: string | undefined; readonly problem: Diagnostic | undefined } => {
  const unsourced = "Parameter value is unknown, it likely includes a reference without a value"
  const none = (problem: string) => ({ text: undefined, problem: errorDiagnostic(problem, sourced) })
  try {
    const value = settled(place.value("default"))
    if (value === unknown) return none(unsourced)
    if (value === null) return none("Parameter value is not valid")
    return { text: toText(value), problem: undefined }
  } catch (error) {
    if (!(error instanceof EvaluationError) || error.isLimit === true) throw error
    const expression = valueOrNone(() => place.body.attributes.get("default")?.expression())
    return none(expression !== undefined && hasType(expression) ? unsourced : "Parameter value is not valid")
  }
}

/** A parameter with the value that it was given. */
export const parameterOf = (place: Place, label: string, given: ReadonlyMap<string, string>): Shown => {
  if (!place.body.attributes.has("name")) {
    return refused(`Missing required attribute "name" for block coder_parameter.${label}`, "The parameter needs a name.")
  }
  const name = valueOrNone(() => place.value("name"))
  if (typeof name !== "string") {
    return refused(`Invalid "name" attribute for block coder_parameter.${label}`, "Expected a string, got an unknown or null value")
  }
  const typeText = place.body.attributes.has("type") ? (place.known("type") ?? "string") : "string"
  const type = oneOf(types, typeText)
  if (type === undefined) {
    return refused(
      `Invalid "type" attribute for block coder_parameter.${label}`,
      `invalid parameter type "${typeText.slice(0, 100)}", expected one of [${types.join(", ")}]`
    )
  }
  const options = optionsOf(place)
  const formText = place.text("form_type")
  const wanted = formText === "" ? allowedFormTypes(type, options.length > 0)[0] : oneOf(formTypes, formText)
  if (wanted === undefined) {
    return refused(
      `Invalid "form_type" attribute for block coder_parameter.${label}`,
      `invalid form type "${formText.slice(0, 100)}", expected one of [${formTypes.join(", ")}]`
    )
  }
  const wrongForm = formTypeProblem(type, wanted, options.length > 0)
  const required = !place.body.attributes.has("default")
  const fallback = required ? { text: undefined, problem: undefined } : defaultOf(place)
  const value = given.get(name)
  const definition: RichParameter = {
    name,
    display_name: place.text("display_name"),
    description: place.text("description"),
    type,
    form_type: wrongForm === undefined ? wanted : "error",
    mutable: place.flag("mutable"),
    ephemeral: place.flag("ephemeral"),
    // Only for now: a default without a value counts as missing
    required: fallback.text === undefined,
    default_value: fallback.text ?? "",
    icon: place.text("icon"),
    options: options.filter((option) => option.value.valid).map((option) => ({ ...option, value: option.value.value })),
    ...validationOf(place),
    order: place.number("order") ?? 0
  }
  const diagnostics = [wrongForm, directionProblem(place)].filter((problem) => problem !== undefined)
  const shown = formParameter(definition, value, { styling: stylingOf(place), diagnostics })
  const isMissing = value === undefined && fallback.text === undefined
  const broken = options.filter((option) => !option.value.valid).length
  return Either.right({
    ...shown,
    required,
    options,
    default_value: { value: fallback.text ?? "", valid: fallback.text !== undefined },
    value: isMissing ? { value: `data.coder_parameter.${label}.value`, valid: false } : shown.value,
    diagnostics: [
      ...(broken === 0 ? [] : [errorDiagnostic(`Parameter contains ${broken} invalid options`, sourced)]),
      ...(isMissing && !required
        ? [
            ...shown.diagnostics.filter(({ extra }) => extra.code !== "required"),
            ...(fallback.problem === undefined ? [] : [fallback.problem])
          ]
        : shown.diagnostics)
    ]
  })
}
