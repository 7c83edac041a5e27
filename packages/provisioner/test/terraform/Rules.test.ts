/** Templates of one rule each, as forms show them, and what Terraform 1.11.4 with the provider 2.19.0 made of the same values. */
import { Effect, Either, Schema } from "effect"
import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { evaluateForm } from "../../src/terraform/Form.js"
import { inputOf, sourceOf } from "./forms.js"

const Case = Schema.Struct({
  name: Schema.String,
  template: Schema.String,
  inputs: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.String }), { default: () => ({}) }),
  /** Whether a command of Terraform failed. */
  refused: Schema.Boolean,
  /** What the provider reports; an empty text reads back as null. */
  value: Schema.optional(Schema.NullOr(Schema.String)),
  form_type: Schema.optional(Schema.NullOr(Schema.String)),
  /** Why a form says something else. */
  differs: Schema.optional(Schema.String)
})

const cases = Schema.decodeUnknownSync(Schema.parseJson(Schema.Array(Case)))(
  readFileSync(new URL("recordings/rules.json", import.meta.url), "utf8")
)

const outcome = async ({ inputs, template }: typeof Case.Type) => {
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
    const { differs, form_type, name, refused, value } = recorded
    const expected = refused ? { refused } : { refused, value: value ?? "", form_type }
    const isEqual = JSON.stringify(await outcome(recorded)) === JSON.stringify(expected)
    if (isEqual !== (differs === undefined)) others.push(name)
  }
  expect(others).toStrictEqual([])
  expect(cases.length).toBe(184)
})
