/** Whether a text is a value of a parameter. templates-and-provisioning.md §4.3. */
import { Option, Schema } from "effect"
import { compilePattern, matchesPattern } from "../../platform/texts/Pattern.js"
import type { RichParameter } from "../../provisioning/engines/SourceDefinitions.js"

type Definition = Pick<
  RichParameter,
  "type" | "form_type" | "options" | "validation_regex" | "validation_error" | "validation_min" | "validation_max" | "validation_monotonic"
>

/** What is wrong with a value: the kind of mistake, and the value with the rule it breaks. Clients show both. */
export interface BrokenRule {
  readonly summary: string
  readonly detail: string
}

/** The first rule that the text breaks as a value of the parameter, or undefined. `previous` is the value of the previous build. */
export const brokenRuleOf = (definition: Definition, value: string, previous: string | undefined): BrokenRule | undefined =>
  optionViolation(definition, value) ?? ruleViolation(definition, value, previous) ?? typeViolation(definition, value)

/** Why the text is not a value of the parameter, or undefined. `previous` is the value of the previous build. */
export const parameterValueViolation = (definition: Definition, value: string, previous: string | undefined): string | undefined =>
  brokenRuleOf(definition, value, previous)?.detail

/** The rule that the value of an option breaks, or undefined. An option of a multi-select is one element of the value. */
export const optionValueViolation = ({ form_type, type }: Definition, value: string): string | undefined =>
  type === "list(string)" && form_type === "multi-select" ? undefined : typeDetail(type, value)

const int64 = { minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n }

/** A whole number of 64 bits, or undefined. */
const integer = (text: string): bigint | undefined => {
  if (!/^[+-]?\d{1,19}$/.test(text)) return undefined
  const value = BigInt(text.replace(/^\+/, ""))
  return value >= int64.minimum && value <= int64.maximum ? value : undefined
}

/** A number in decimal notation, of any size. */
const isDecimal = (text: string): boolean => /^[+-]?\d[\d_]*(\.\d+)?([eE][+-]?\d+)?$/.test(text)

/** The words that Terraform reads as true or false. */
const truths = new Map([
  ...["1", "t", "T", "TRUE", "true", "True"].map((word) => [word, true] as const),
  ...["0", "f", "F", "FALSE", "false", "False"].map((word) => [word, false] as const)
])

/** Whether a value of a bool is true; undefined where it is no such value. */
export const truthOf = (value: string): boolean | undefined => truths.get(value)

const decodeList = Schema.decodeUnknownOption(Schema.parseJson(Schema.NullOr(Schema.Array(Schema.NullOr(Schema.String)))))

/** The elements of a list's JSON text, or undefined. Null is the empty list, and as an element the empty text. */
const elements = (text: string): ReadonlyArray<string> | undefined =>
  Option.getOrUndefined(Option.map(decodeList(text), (list) => (list ?? []).map((element) => element ?? "")))

const typeDetail = (type: Definition["type"], value: string): string | undefined => {
  switch (type) {
    case "bool":
      return truthOf(value) === undefined ? `${quote(value)} is not a bool` : undefined
    case "number":
      return isDecimal(value) ? undefined : `${quote(value)} is not a number`
    case "list(string)":
      return elements(value) === undefined ? `value ${quote(value)} is not a valid list of strings` : undefined
    case "string":
      return undefined
  }
}

const typeViolation = ({ type }: Definition, value: string): BrokenRule | undefined => {
  const detail = typeDetail(type, value)
  return detail === undefined ? undefined : { summary: `Parameter value is not of type ${quote(type)}`, detail }
}

const optionViolation = ({ form_type, options, type }: Definition, value: string): BrokenRule | undefined => {
  if (options.length === 0) return undefined
  const allowed = new Set(options.map((option) => option.value))
  if (type === "list(string)" && form_type === "multi-select") {
    const chosen = elements(value)
    if (chosen === undefined) {
      return {
        summary: "When using list(string) type, value must be a json encoded list of strings",
        detail: `value ${quote(value)} is not a valid list of strings`
      }
    }
    const others = chosen.filter((choice) => !allowed.has(choice))
    if (others.length === 0) return undefined
    const shown = others.slice(0, maximumShown).map(quote).join(", ")
    return {
      summary: "Values must be a valid option",
      detail: `Value ${quote(value)} is not a valid option, values ${shown} are missing from the options`
    }
  }
  if (allowed.has(value)) return undefined
  const hint = value === "" ? ". The value is empty, did you forget to set it with a default or from user input?" : ""
  return { summary: `Value must be a valid option${hint}`, detail: `the value ${quote(value)} must be defined as one of options` }
}

const ruleViolation = (definition: Definition, value: string, previous: string | undefined): BrokenRule | undefined => {
  const { type, validation_max, validation_min } = definition
  const detail =
    type === "number"
      ? numberDetail(definition, value, integer(previous ?? ""))
      : validation_min !== null
        ? `a min cannot be specified for a ${type} type`
        : validation_max !== null
          ? `a max cannot be specified for a ${type} type`
          : type === "string"
            ? patternDetail(definition, value)
            : undefined
  return detail === undefined ? undefined : { summary: "Invalid parameter value according to 'validation' block", detail }
}

const patternDetail = ({ validation_error, validation_regex }: Definition, value: string): string | undefined => {
  if (validation_regex === "") return undefined
  const pattern = compilePattern(validation_regex)
  if (typeof pattern === "string") return `the parameter's pattern cannot be used: ${pattern}`
  const matches = matchesPattern(pattern, value)
  if (matches === undefined) return "the value is too long"
  if (matches) return undefined
  return `${validation_error} (value ${quote(value)} does not match ${quote(validation_regex)})`
}

const numberDetail = (definition: Definition, text: string, previous: bigint | undefined): string | undefined => {
  const { validation_error, validation_max, validation_min, validation_monotonic } = definition
  if (validation_error === "" && validation_max === null && validation_min === null && validation_monotonic === "") return undefined
  const explained = (standard: string): string =>
    validation_error === ""
      ? standard
      : validation_error
          .replaceAll("{min}", String(validation_min ?? 0))
          .replaceAll("{max}", String(validation_max ?? 0))
          .replaceAll("{value}", shown(text))
  const value = integer(text)
  if (value === undefined) return explained(`value ${quote(text)} is not a number`)
  if (validation_min !== null && value < validation_min) return explained(`value ${value} is less than the minimum ${validation_min}`)
  if (validation_max !== null && value > validation_max) return explained(`value ${value} is more than the maximum ${validation_max}`)
  if (previous === undefined) return undefined
  if (validation_monotonic === "increasing" && value < previous) {
    return `parameter value '${value}' must be equal or greater than previous value: ${previous}`
  }
  if (validation_monotonic === "decreasing" && value > previous) {
    return `parameter value '${value}' must be equal or lower than previous value: ${previous}`
  }
  return undefined
}

/** Elements of a list that a message names. */
const maximumShown = 10

const longestQuoted = 100

const shown = (text: string): string => (text.length > longestQuoted ? `${text.slice(0, longestQuoted)}…` : text)

const quote = (text: string): string => JSON.stringify(shown(text))
