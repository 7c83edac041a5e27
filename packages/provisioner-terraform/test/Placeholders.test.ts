import { Effect } from "effect"
import { expect, it } from "vitest"
import { placeholders } from "../src/Placeholders.js"

const of = async (...bodies: ReadonlyArray<string>) => {
  const text = bodies.map((body, index) => `data "coder_parameter" "p${index}" {\n  name = "p${index}"\n${body}\n}\n`).join("")
  const values = await Effect.runPromise(placeholders(new Map([["main.tf", new TextEncoder().encode(text)]])))
  return values.map(({ value }) => value)
}

it.each([
  ['validation {\n  regex = "^[a-z]+$"\n}', ["a"]],
  ['validation {\n  regex = "^https://"\n}', ["https://example.com"]],
  ["validation {\n  min = 3\n  max = 5\n}", ["3"]],
  ["validation {\n  max = -5\n}", ["-5"]],
  ['validation {\n  monotonic = "increasing"\n}', ["0"]],
  ['validation {\n  regex = "^no text has this$"\n}', []],
  ['validation {\n  regex = "("\n}', []],
  ['default = ""\nvalidation {\n  regex = "."\n}', []],
  ["", []]
])("a required parameter with %j gets %j", async (body, expected) => {
  expect(await of(body)).toEqual(expected)
})

it("a source that is not HCL gets no values", async () => {
  expect(await Effect.runPromise(placeholders(new Map([["main.tf", new TextEncoder().encode("data {")]])))).toEqual([])
})
