import { expect, it } from "@effect/vitest"
import { Uuid } from "@atelier/agent-protocol"
import { Option } from "effect"
import * as fc from "fast-check"

it("a UUID keeps its text through its bytes", () => {
  fc.assert(
    fc.property(fc.uuid(), (uuid) => {
      expect(Option.flatMap(Uuid.toBytes(uuid), Uuid.fromBytes)).toStrictEqual(Option.some(uuid))
    })
  )
  expect(Uuid.toBytes("0190B7C4-6d2e-7f00-8000-0000000000ff")).toStrictEqual(
    Option.some(new Uint8Array([1, 0x90, 0xb7, 0xc4, 0x6d, 0x2e, 0x7f, 0, 0x80, 0, 0, 0, 0, 0, 0, 0xff]))
  )
})

it("other bytes and other texts are not UUIDs", () => {
  for (const length of [0, 15, 17]) expect(Uuid.fromBytes(new Uint8Array(length))).toStrictEqual(Option.none())
  for (const text of [
    "",
    "x",
    "0190b7c46d2e7f0080000000000000ff",
    "{0190b7c4-6d2e-7f00-8000-0000000000ff}",
    "0190b7c4-6d2e-7f00-8000-0000000000fg"
  ])
    expect(Uuid.toBytes(text)).toStrictEqual(Option.none())
})
