/** Rules for the definitions of a source as a whole. templates-and-provisioning.md §4.2, §5.1. */
import { compilePattern } from "../../platform/texts/Pattern.js"
import type { Plan } from "../../provisioning/engines/ProvisionerEngine.js"

const maximumPresetDescription = 128
const maximumIcon = 256

const repeated = (names: ReadonlyArray<string>): string | undefined => names.find((name, index) => names.indexOf(name) < index)

/** The rule that parameters and presets break, or undefined. */
export const definitionsViolation = ({ parameters, presets }: Pick<Plan, "parameters" | "presets">): string | undefined => {
  const parameter = repeated(parameters.map(({ name }) => name))
  if (parameter !== undefined) return `The parameter "${parameter}" is defined more than once.`
  for (const { name, validation_regex } of parameters) {
    const violation = validation_regex === "" ? undefined : compilePattern(validation_regex)
    if (typeof violation === "string") return `The pattern of the parameter "${name}" cannot be used: ${violation}.`
  }
  const preset = repeated(presets.map(({ name }) => name))
  if (preset !== undefined) return `The preset "${preset}" is defined more than once.`
  if (presets.filter((candidate) => candidate.default).length > 1) return "At most one preset can be the default."
  for (const { description, icon, name } of presets) {
    if (description.length > maximumPresetDescription) {
      return `The description of the preset "${name}" has more than ${maximumPresetDescription} characters.`
    }
    if (icon.length > maximumIcon) return `The icon of the preset "${name}" has more than ${maximumIcon} characters.`
  }
  return undefined
}
