import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import { json } from "../../src/platform/Row.js"

describe("a JSON column", () => {
  const column = json(Schema.Record({ key: Schema.String, value: Schema.Number }))

  it("reads equal texts once", () => {
    const first = column.read('{"a":1}')
    expect(first).toStrictEqual({ a: 1 })
    expect(column.read('{"a":1}')).toBe(first)
  })

  it("reads another text anew", () => {
    column.read('{"a":1}')
    expect(column.read('{"a":2}')).toStrictEqual({ a: 2 })
    expect(column.read('{"a":1}')).toStrictEqual({ a: 1 })
  })

  it("keeps no long text", () => {
    const long = JSON.stringify({ ["x".repeat(256)]: 1 })
    expect(column.read(long)).not.toBe(column.read(long))
  })

  it("refuses a text again that does not match its schema", () => {
    for (let turn = 0; turn < 2; turn++) expect(() => column.read('{"a":"b"}')).toThrow("Expected number")
  })
})
