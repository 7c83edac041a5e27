/** Presets of template versions, in the spelling of each dialect. wire.md W2. */
import { PresetView } from "@atelier/core/templates"
import { Schema } from "effect"
import { dialectal } from "../../wire/dialect.js"

const { Parameters, ...preset } = PresetView.fields

const ParametersInBothSpellings = Schema.Array(
  Schema.Struct({ ...Parameters.value.fields, name: Schema.String, value: Schema.String }).annotations({ identifier: "PresetParameter" })
)

/** Each field under the documented name too, which the reference has not. wire.md W2. */
const PresetInBothSpellings = Schema.Struct({
  ...preset,
  Parameters: ParametersInBothSpellings,
  id: preset.ID,
  name: preset.Name,
  parameters: ParametersInBothSpellings,
  default: preset.Default,
  desiredPrebuildInstances: preset.DesiredPrebuildInstances,
  description: preset.Description,
  icon: preset.Icon
})

export const Preset = dialectal({
  standard: Schema.transform(PresetInBothSpellings, Schema.typeSchema(PresetView), {
    strict: true,
    decode: (given) => given,
    encode: (given) => {
      const parameters = given.Parameters.map(({ Name, Value }) => ({ Name, Value, name: Name, value: Value }))
      return {
        ...given,
        Parameters: parameters,
        id: given.ID,
        name: given.Name,
        parameters,
        default: given.Default,
        desiredPrebuildInstances: given.DesiredPrebuildInstances,
        description: given.Description,
        icon: given.Icon
      }
    }
  }),
  reference: PresetView
}).annotations({ identifier: "Preset" })
