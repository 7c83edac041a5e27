import { Effect } from "effect"
import { expect, it } from "vitest"
import { flawsOfPresets } from "../../src/terraform/Presets.js"
import { inputOf, sourceOf } from "./forms.js"

const parameters = `data "coder_parameter" "must" {
  name = "must"
}
data "coder_parameter" "size" {
  name    = "size"
  default = "s"
  option {
    name  = "S"
    value = "s"
  }
}
`

const preset = (label: string, body: string, instances = 1) =>
  `data "coder_workspace_preset" "${label}" {\n${body}\n  prebuilds {\n    instances = ${instances}\n  }\n}\n`

it.each([
  ["one that is complete", preset("a", 'name = "A"\nparameters = { must = "x" }'), []],
  ["one without a required value", preset("a", 'name = "A"\nparameters = { size = "s" }'), ["A"]],
  ["one with a value that is no option", preset("a", 'name = "A"\nparameters = { must = "x", size = "xl" }'), ["A"]],
  ["one with an unknown parameter", preset("a", 'name = "A"\nparameters = { must = "x", colour = "blue" }'), ["A"]],
  ["one that is not made beforehand", preset("a", 'name = "A"\nparameters = { colour = "blue" }', 0), []],
  ["one without a name", preset("a", 'parameters = { must = "x" }'), [""]],
  [
    "a second default",
    preset("a", 'name = "A"\ndefault = true\nparameters = { must = "x" }') +
      preset("b", 'name = "B"\ndefault = true\nparameters = { must = "x" }'),
    ["B"]
  ]
])("%s has flaws %j", async (_, presets, names) => {
  const flaws = await Effect.runPromise(flawsOfPresets(sourceOf({ "main.tf": parameters + presets }), inputOf({})))
  expect(flaws.map(({ field }) => field)).toStrictEqual(names)
})
