import { describe, expect, it } from "@effect/vitest"
import * as fc from "fast-check"
import { Frame } from "@atelier/agent-protocol"
import { cut } from "../Chunks.js"

const uint32 = fc.integer({ min: 0, max: 0xffffffff })
const flags = fc.integer({ min: 0, max: 0xffff })

const frame: fc.Arbitrary<{ readonly header: Frame.Header; readonly payload?: Uint8Array }> = fc.oneof(
  fc
    .tuple(fc.constantFrom(Frame.Type.WindowUpdate, Frame.Type.Ping, Frame.Type.GoAway), flags, uint32, uint32)
    .map(([type, flags, streamId, length]) => ({ header: { type, flags, streamId, length } })),
  fc
    .tuple(flags, uint32, fc.uint8Array())
    .map(([flags, streamId, payload]) => ({ header: { type: Frame.Type.Data, flags, streamId, length: payload.length }, payload }))
)

/** What a decoder finds, with the pieces of each payload joined. */
const decodeAll = (chunks: ReadonlyArray<Uint8Array>) => {
  const decoder = new Frame.Decoder()
  const found: Array<Frame.Header | ReadonlyArray<number> | string> = []
  let payload: Array<number> = []
  for (const event of chunks.flatMap((chunk) => [...decoder.decode(chunk)])) {
    if (event._tag === "Header") found.push(event.header)
    else if (event._tag === "Invalid") found.push(event.message)
    else {
      payload.push(...event.bytes)
      if (event.last) {
        found.push(payload)
        payload = []
      }
    }
  }
  return { found, unfinished: payload }
}

describe("frames", () => {
  it("have a 12-byte big-endian header", () => {
    expect(Frame.encode({ type: Frame.Type.WindowUpdate, flags: Frame.Flag.SYN, streamId: 0x01020304, length: 0x0a0b0c0d })).toStrictEqual(
      new Uint8Array([0, 1, 0, 1, 1, 2, 3, 4, 0x0a, 0x0b, 0x0c, 0x0d])
    )
    expect(Frame.encodeData(3, new Uint8Array([7, 8]), Frame.Flag.FIN)).toStrictEqual(
      new Uint8Array([0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 2, 7, 8])
    )
  })

  it("are decoded from any chunks", () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 8 }), fc.array(fc.nat()), (frames, cuts) => {
        const bytes = Uint8Array.from(frames.flatMap(({ header, payload }) => [...Frame.encode(header, payload)]))
        const expected = frames.flatMap(({ header, payload }): ReturnType<typeof decodeAll>["found"] =>
          payload === undefined || payload.length === 0 ? [header] : [header, [...payload]]
        )
        expect(decodeAll(cut(bytes, cuts))).toStrictEqual({ found: expected, unfinished: [] })
      })
    )
  })

  it("are decoded or refused for any bytes in any chunks", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.array(fc.nat()), (bytes, cuts) => {
        expect(decodeAll(cut(bytes, cuts))).toStrictEqual(decodeAll([bytes]))
      })
    )
  })

  it("of another version or type are refused, and nothing behind them is found", () => {
    const ping = Frame.encode({ type: Frame.Type.Ping, flags: 0, streamId: 0, length: 0 })
    const wrongVersion = Uint8Array.from([1, ...ping.subarray(1)])
    const wrongType = Uint8Array.from([0, 4, ...ping.subarray(2)])
    expect(decodeAll([wrongVersion, ping]).found).toStrictEqual(["unknown version 1"])
    expect(decodeAll([wrongType, ping]).found).toStrictEqual(["unknown frame type 4"])
  })
})
