import { Uuid } from "@atelier/core/platform"
import { Either, ParseResult, Schema } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Body, list, required, text } from "../../../src/wire/input.js"
import { decoder, undecodable } from "../../../src/server/codec/decoder.js"

const id = "018f0000-0000-7000-8000-000000000001"

const Line = Body({ level: text, output: text })

const schemas: Readonly<Record<string, Schema.Schema.AnyNoContext>> = {
  lines: Body({ log_source_id: Schema.optional(Uuid.Uuid), logs: list(Line, 5) }),
  checks: Schema.Record({ key: Schema.String, value: Schema.Struct({ object: Line, action: Schema.Literal("read") }) }),
  required: Body({ name: required(Schema.String), count: Schema.NullOr(Schema.Number), at: Schema.optional(Schema.Date) }),
  strict: Schema.Struct({ output: Schema.String }).annotations({ parseOptions: { onExcessProperty: "error" } })
}

const line = fc.record({ level: fc.string(), output: fc.string() }, { requiredKeys: [] })

/** Mostly what a schema describes, with other values anywhere. */
const bodies = fc.oneof(
  fc.record(
    {
      log_source_id: fc.constantFrom(id, "none", null),
      logs: fc.array(fc.oneof({ weight: 9, arbitrary: line }, fc.jsonValue()), { maxLength: 7 })
    },
    { requiredKeys: [] }
  ),
  fc.dictionary(fc.string(), fc.record({ object: line, action: fc.constantFrom("read", "update") }), { noNullPrototype: true }),
  fc.record(
    { name: fc.constantFrom("", "a", 1), count: fc.constantFrom(1, null, "1"), at: fc.constantFrom("2030-01-01", "never", 0) },
    { requiredKeys: [] }
  ),
  line,
  fc.jsonValue()
)

describe("the compiled decoder", () => {
  for (const [name, schema] of Object.entries(schemas)) {
    it(`reads ${name} as the library does`, () => {
      const expected = ParseResult.decodeUnknownEither(schema, { onExcessProperty: "ignore" })
      const decode = decoder(schema.ast)
      fc.assert(
        fc.property(bodies, (body) => {
          expect(decode(body)).toStrictEqual(Either.getOrElse(expected(body), () => undecodable))
        }),
        { numRuns: 500 }
      )
    })
  }

  it("fills what is absent", () => {
    expect(decoder(Body({ lines: list(Line, 5) }).ast)({ lines: [{ level: "info", output: "a" }, {}] })).toStrictEqual({
      lines: [
        { level: "info", output: "a" },
        { level: "", output: "" }
      ]
    })
  })
})
