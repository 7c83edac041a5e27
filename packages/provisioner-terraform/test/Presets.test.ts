import { Effect } from "effect"
import { expect, it } from "vitest"
import { presetViolations } from "../src/Presets.js"
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
])("%s has violations %j", async (_, presets, names) => {
  const violations = await Effect.runPromise(presetViolations(await sourceOf({ "main.tf": parameters + presets }), inputOf({})))
  expect(violations.map(({ field }) => field)).toStrictEqual(names)
})

it("checks presets of modules, with the values of each call", async () => {
  const files = {
    "main.tf": `${parameters}module "team" {
  for_each = { one = "s", two = "xl" }
  source   = "./team"
  name     = each.key
  size     = each.value
}
`,
    "team/main.tf": `variable "name" {}
variable "size" {}
${preset("p", 'name = var.name\nparameters = { must = "x", size = var.size }')}`
  }
  const violations = await Effect.runPromise(presetViolations(await sourceOf(files), inputOf({})))
  expect(violations.map(({ field }) => field)).toStrictEqual(["two"])
})

it("checks the values of presets up to 10,000 parameters, and what costs nothing of all", async () => {
  const many = Array.from({ length: 1_000 }, (_, at) => `data "coder_parameter" "p${at}" {\n  name = "p${at}"\n  default = "x"\n}\n`)
  const incomplete = Array.from({ length: 20 }, (_, at) => preset(`a${at}`, `name = "A${at}"\nparameters = { colour = "blue" }`))
  const last = ["b", "c"].map((label) => preset(label, `name = "${label}"\ndefault = true\nparameters = {}`))
  const violations = await Effect.runPromise(
    presetViolations(await sourceOf({ "main.tf": [...many, ...incomplete, ...last].join("") }), inputOf({}))
  )
  expect(violations.map(({ field }) => field)).toStrictEqual([...Array.from({ length: 10 }, (_, at) => `A${at}`), "c"])
})
