/** Templates of one rule each, as forms show them, and what Terraform 1.11.4 with the provider 2.19.0 made of the same values. */
import { Effect, Either } from "effect"
import { expect, it } from "vitest"
import { evaluateForm } from "../src/Form.js"
import { inputOf, sourceOf } from "./forms.js"
import { type Rule, rules } from "./rules.js"

/** The other rules are not about parameters, so no form shows them. */
const cases = rules.filter(({ template }) => template.includes('data "coder_parameter"'))

const outcome = async ({ inputs, template }: Rule) => {
  const result = await Effect.runPromise(Effect.either(evaluateForm(await sourceOf({ "main.tf": template }), inputOf(inputs))))
  if (Either.isLeft(result)) return { refused: true }
  const { diagnostics, parameters } = result.right
  const faults = [...diagnostics, ...parameters.flatMap((parameter) => parameter.diagnostics)]
  if (faults.some(({ severity }) => severity === "error")) return { refused: true }
  const shown = parameters.find(({ name }) => name === "p") ?? parameters[0]
  return { refused: false, value: shown?.value.value, form_type: shown?.form_type }
}

it("forms refuse and show values as Terraform does, but for reasons that are listed", async () => {
  const others: Array<string> = []
  for (const recorded of cases) {
    const { differs, form_type, name, refused_by, value } = recorded
    const expected = refused_by !== undefined ? { refused: true } : { refused: false, value: value ?? "", form_type }
    const isEqual = JSON.stringify(await outcome(recorded)) === JSON.stringify(expected)
    if (isEqual !== (differs === undefined)) others.push(name)
  }
  expect(others).toStrictEqual([])
  expect(cases.length).toBe(184)
})
