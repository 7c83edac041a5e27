import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import { User } from "../../../src/contract/identity/users.js"
import { Workspace } from "../../../src/contract/workspaces/workspaces.js"
import { encoder } from "../../../src/server/codec/encoder.js"
import { compact } from "../../../src/server/codec/json.js"
import { writer } from "../../../src/server/codec/writer.js"
import { keptText } from "../../../src/wire/keptText.js"

const Item = keptText(Schema.Struct({ id: Schema.String, text: Schema.optional(Schema.String) }))
const Page = Schema.Struct({
  count: Schema.Number,
  note: Schema.optional(Schema.String),
  items: Schema.Array(Item),
  first: Schema.optional(Item)
})

const written = (schema: Schema.Schema.Any, value: unknown): string | undefined => writer(schema.ast)?.(value)

const items = [
  { id: "1", text: "<a> & b", undeclared: "a secret" },
  { id: "2", undeclared: "a secret" }
]

describe("the writer of documents with kept parts", () => {
  it.each([
    ["a part", Item, items[0]],
    ["a list of parts", Schema.Array(Item), items],
    ["an empty list", Schema.Array(Item), []],
    ["parts among other properties", Page, { count: 2, note: "</script>", items, first: items[1], undeclared: "a secret" }],
    ["optional parts that are absent", Page, { count: 0, items: [] }]
  ])("writes what the encoder sends: %s", (_, schema: Schema.Schema.Any, value) => {
    expect(written(schema, value)).toBe(compact(encoder(schema.ast)(value)))
  })

  it("reads no value of a part again that it has written", () => {
    let reads = 0
    const item = {
      id: "3",
      get text() {
        reads++
        return "a text"
      }
    }
    const texts = [1, 2, 3].map(() => written(Page, { count: 1, items: [item] }))
    expect(new Set(texts)).toStrictEqual(new Set([`{"count":1,"items":[{"id":"3","text":"a text"}]}`]))
    expect(reads).toBe(1)
  })

  it("writes another object of the same id anew", () => {
    expect(["a", "b"].map((text) => written(Item, { id: "4", text }))).toStrictEqual([`{"id":"4","text":"a"}`, `{"id":"4","text":"b"}`])
  })

  it.each([
    ["a part without a property", Item, { text: "x" }],
    ["no list where one is declared", Page, { count: 1, items: {} }],
    ["a page without its parts", Page, { count: 1 }],
    ["a page without another property", Page, { items }]
  ])("writes nothing of %s", (_, schema: Schema.Schema.Any, value) => {
    expect(() => written(schema, value)).toThrow("An answer has")
  })

  it("leaves schemas their names in descriptions", () => {
    expect(String(Workspace)).toBe("Workspace")
  })

  it("is for workspaces, and not for what has no kept part", () => {
    expect(writer(Workspace.ast)).toBeDefined()
    expect(writer(User.ast)).toBeUndefined()
  })
})
