/**
 * The values a build uses: which of what was given, kept or defaulted counts, and whether it may. Pure, on the definitions that the
 * import stored. templates-and-provisioning.md §4.3–4.5.
 */
import { Either } from "effect"
import { Invalid } from "../../platform/Errors.js"
import type { ParameterValue, RichParameter } from "../../provisioning/engines/SourceDefinitions.js"
import { parameterValueViolation } from "./ParameterValueRules.js"
import type { TemplateVersionPreset } from "../versions/TemplateVersionDefinitions.js"

export interface ParameterResolution {
  /** Whether the template resolves in the classic flow: the first failing parameter is refused, by message. §4.4. */
  readonly classic: boolean
  readonly definitions: ReadonlyArray<RichParameter>
  /** The caller's values. */
  readonly given: ReadonlyArray<ParameterValue>
  /** The chosen preset's values, which win over the caller's. */
  readonly preset: ReadonlyArray<ParameterValue>
  /** The previous build's values; null at the first build. */
  readonly previous: ReadonlyArray<ParameterValue> | null
}

/** One value for each definition, in their order; names that nothing defines are dropped. Or the refusal. §4.4, §4.5. */
export const resolveParameters = (resolution: ParameterResolution): Either.Either<ReadonlyArray<ParameterValue>, Invalid> => {
  const explicit = valuesByName([...resolution.given, ...resolution.preset])
  const previous = valuesByName(resolution.previous ?? [])
  const resolved = resolution.definitions.map((definition) => ({
    name: definition.name,
    value: resolveOne(definition, resolution.classic, explicit.get(definition.name), previous.get(definition.name))
  }))
  const violations = resolved.flatMap(({ name, value }) => (Either.isLeft(value) ? [{ field: name, detail: value.left }] : []))
  const [first] = violations
  if (first === undefined) {
    return Either.right(resolved.map(({ name, value }) => ({ name, value: Either.getOrElse(value, () => "") })))
  }
  return Either.left(
    resolution.classic
      ? new Invalid({ message: `Unable to validate parameter "${first.field}": ${first.detail}` })
      : new Invalid({
          message: "Unable to validate parameters",
          validations: violations.toSorted((left, right) => (left.field < right.field ? -1 : 1))
        })
  )
}

const resolveOne = (
  definition: RichParameter,
  classic: boolean,
  given: string | undefined,
  previous: string | undefined
): Either.Either<string, string> => {
  const { default_value, ephemeral, mutable, required, type } = definition
  // No value but a text can be empty: in the classic flow an empty one leaves the choice open
  const explicit = classic && given === "" && type !== "string" && !required ? undefined : given
  if (!mutable && previous !== undefined && explicit !== undefined && explicit !== previous) {
    return Either.left("the parameter is immutable and keeps the value it was given first")
  }
  const kept = ephemeral ? undefined : previous
  const value = explicit ?? kept
  if (value === undefined) return required ? Either.left("a value is required") : Either.right(default_value)
  if (classic && required && value === "") return Either.left("the required value must not be empty")
  const violation = parameterValueViolation(definition, value, previous)
  return violation === undefined ? Either.right(value) : Either.left(violation)
}

const valuesByName = (values: ReadonlyArray<ParameterValue>): ReadonlyMap<string, string> =>
  new Map(values.map(({ name, value }) => [name, value]))

/** The preset all of whose values are given, the one with most of them; none where no preset is fulfilled. §5.1. */
export const matchingPreset = <A extends Pick<TemplateVersionPreset, "parameters">>(
  presets: ReadonlyArray<A>,
  values: ReadonlyArray<ParameterValue>
): A | undefined => {
  const given = valuesByName(values)
  const [best] = presets
    .filter(({ parameters }) => parameters.every(({ name, value }) => given.get(name) === value))
    .toSorted((left, right) => right.parameters.length - left.parameters.length)
  return best
}
