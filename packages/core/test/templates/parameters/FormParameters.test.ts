import { formParameter, inFormOrder, staticForm } from "@atelier/core/templates"
import { Schema } from "effect"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { aParameter } from "../../../../../test/outside/engine.js"

/** A value of a parameter, as a form judged it that was recorded: each diagnostic is its summary, detail and code. */
const Row = Schema.parseJson(
  Schema.Struct({
    type: Schema.Literal("string", "number", "bool", "list(string)"),
    form_type: Schema.Literal("radio", "dropdown", "input", "textarea", "slider", "checkbox", "switch", "tag-select", "multi-select"),
    options: Schema.optionalWith(Schema.Array(Schema.Tuple(Schema.String, Schema.String)), { default: () => [] }),
    rule: Schema.optionalWith(
      Schema.Struct({
        error: Schema.optional(Schema.String),
        regex: Schema.optional(Schema.String),
        min: Schema.optional(Schema.Number),
        max: Schema.optional(Schema.Number),
        monotonic: Schema.optional(Schema.Literal("increasing", "decreasing"))
      }),
      { default: () => ({}) }
    ),
    value: Schema.NullOr(Schema.String),
    diagnostics: Schema.Array(Schema.Tuple(Schema.String, Schema.String, Schema.String))
  })
)

const rows = readFileSync(new URL("../recorded/form-values.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => Schema.decodeUnknownSync(Row)(line))

describe("a form's diagnostics", () => {
  it.each(rows)("of a $type in a $form_type with $rule are as recorded for $value", ({ options, rule, value, diagnostics, ...kind }) => {
    const definition = aParameter({
      name: "p",
      ...kind,
      options: options.map(([name, value]) => ({ name, value, description: "", icon: "" })),
      validation_error: rule.error ?? "",
      validation_regex: rule.regex ?? "",
      validation_min: rule.min ?? null,
      validation_max: rule.max ?? null,
      validation_monotonic: rule.monotonic ?? ""
    })
    const shown = formParameter(definition, value ?? undefined)
    expect(shown.diagnostics.map(({ detail, extra, summary }) => [summary, detail, extra.code])).toStrictEqual(diagnostics)
    expect(shown.value.valid).toBe(value !== null)
  })
})

describe("a form of stored definitions", () => {
  it("shows what the import found, with a warning", () => {
    const definitions = [
      aParameter({ name: "b", default_value: "x" }),
      aParameter({ name: "a", type: "number" }),
      aParameter({ name: "first", default_value: "", order: -1 })
    ]
    const { diagnostics, parameters } = staticForm(definitions, [{ name: "b", value: "y" }])
    expect(diagnostics.map(({ severity }) => severity)).toStrictEqual(["warning"])
    expect(parameters.map(({ name, value }) => [name, value])).toStrictEqual([
      ["first", { value: "", valid: true }],
      ["a", { value: "", valid: false }],
      ["b", { value: "y", valid: true }]
    ])
  })

  it("sorts names by their bytes in UTF-8", () => {
    const names = ["\u{1F600}", "\uFFFD", "ab", "a", "B"]
    const sorted = inFormOrder(names.map((name) => formParameter(aParameter({ name }), "")))
    expect(sorted.map(({ name }) => name)).toStrictEqual(["B", "a", "ab", "\uFFFD", "\u{1F600}"])
  })
})
