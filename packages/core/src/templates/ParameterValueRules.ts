/** Whether a text is a value of a parameter. templates-and-provisioning.md §4.3. */
import { Option, Schema } from "effect"
import { compilePattern, matchesPattern } from "../platform/pattern/Pattern.js"
import type { RichParameter } from "../provisioning/SourceDefinitions.js"

type Definition = Pick<
  RichParameter,
  "type" | "form_type" | "options" | "validation_regex" | "validation_error" | "validation_min" | "validation_max" | "validation_monotonic"
>

/** Why the text is not a value of the parameter, or undefined. `previous` is the value of the previous build. */
export const parameterValueViolation = (definition: Definition, value: string, previous: string | undefined): string | undefined =>
  typeViolation(definition, value) ?? optionViolation(definition, value) ?? ruleViolation(definition, value, previous)

const int64 = { minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n }

/** A whole number of 64 bits, or undefined. */
const integer = (text: string): bigint | undefined => {
  if (!/^[+-]?\d{1,19}$/.test(text)) return undefined
  const value = BigInt(text.replace(/^\+/, ""))
  return value >= int64.minimum && value <= int64.maximum ? value : undefined
}

const decodeList = Schema.decodeUnknownOption(Schema.parseJson(Schema.Array(Schema.String)))

/** The elements of a list's JSON text, or undefined. */
const elements = (text: string): ReadonlyArray<string> | undefined => Option.getOrUndefined(decodeList(text))

const typeViolation = ({ type }: Definition, value: string): string | undefined => {
  switch (type) {
    case "bool":
      return value === "true" || value === "false" ? undefined : `${quote(value)} is neither true nor false`
    case "number":
      return integer(value) === undefined ? `${quote(value)} is not a whole number` : undefined
    case "list(string)":
      return elements(value) === undefined ? `${quote(value)} is not a JSON array of texts` : undefined
    case "string":
      return undefined
  }
}

const optionViolation = ({ form_type, options, type }: Definition, value: string): string | undefined => {
  if (options.length === 0) return undefined
  const allowed = new Set(options.map((option) => option.value))
  const chosen = type === "list(string)" && form_type === "multi-select" ? (elements(value) ?? []) : [value]
  const other = chosen.find((choice) => !allowed.has(choice))
  return other === undefined
    ? undefined
    : `${quote(other)} is not one of the options ${options.map((option) => quote(option.value)).join(", ")}`
}

const ruleViolation = (definition: Definition, value: string, previous: string | undefined): string | undefined => {
  if (definition.type === "string") return patternViolation(definition, value)
  return definition.type === "number" ? numberViolation(definition, integer(value) ?? 0n, integer(previous ?? "")) : undefined
}

const patternViolation = ({ validation_error, validation_regex }: Definition, value: string): string | undefined => {
  if (validation_regex === "") return undefined
  const pattern = compilePattern(validation_regex)
  if (typeof pattern === "string") return `the parameter's pattern cannot be used: ${pattern}`
  const matches = matchesPattern(pattern, value)
  if (matches === undefined) return "the value is too long"
  if (matches) return undefined
  return `${validation_error} (value ${quote(value)} does not match ${quote(validation_regex)})`
}

const numberViolation = (
  { validation_error, validation_max, validation_min, validation_monotonic }: Definition,
  value: bigint,
  previous: bigint | undefined
): string | undefined => {
  const explained = (standard: string): string =>
    validation_error === ""
      ? standard
      : validation_error
          .replaceAll("{min}", String(validation_min ?? "{min}"))
          .replaceAll("{max}", String(validation_max ?? "{max}"))
          .replaceAll("{value}", String(value))
  if (validation_min !== null && value < validation_min) return explained(`${value} is less than ${validation_min}`)
  if (validation_max !== null && value > validation_max) return explained(`${value} is more than ${validation_max}`)
  if (previous === undefined) return undefined
  if (validation_monotonic === "increasing" && value < previous) return explained(`${value} is less than ${previous}, the value before`)
  if (validation_monotonic === "decreasing" && value > previous) return explained(`${value} is more than ${previous}, the value before`)
  return undefined
}

const longestQuoted = 100

const quote = (text: string): string => JSON.stringify(text.length > longestQuoted ? `${text.slice(0, longestQuoted)}…` : text)
