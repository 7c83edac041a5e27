import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import { Effect, Exit, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { successWriter } from "../../src/handlers/successWriter.js"

const Version = Schema.Struct({ name: Schema.String })

describe("a success with or without content", () => {
  const { write } = successWriter(HttpApiSchema.UnionUnify(Version, HttpApiSchema.NoContent))

  it("has content where there is a value", () => expect(Effect.runSync(write({ name: "v1" }))).toMatchObject({ status: 200 }))

  it("is empty where the value is undefined", () => {
    expect(Effect.runSync(write(undefined))).toMatchObject({ status: 204, body: { _tag: "Empty" } })
  })

  it("does not hide a value of another form", () => expect(Exit.isFailure(Effect.runSyncExit(write({ name: 1 })))).toBe(true))
})
