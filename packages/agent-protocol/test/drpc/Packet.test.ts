import { describe, expect, it } from "@effect/vitest"
import * as fc from "fast-check"
import { Packet } from "@atelier/agent-protocol"
import { cut } from "../Chunks.js"

const { Invoke, Message, Cancel, CloseSend } = Packet.Kind

const decodeAll = (chunks: ReadonlyArray<Uint8Array>) => {
  const decoder = new Packet.Decoder()
  return chunks
    .flatMap((chunk) => decoder.decode(chunk))
    .map((found) => (found.kind === "Violation" ? found.message : { ...found, data: [...found.data] }))
}

/** A frame with numbers below 128, which are varints of one byte each. */
const frame = (control: number, streamId: number, messageId: number, data: ReadonlyArray<number>) => [
  control,
  streamId,
  messageId,
  data.length,
  ...data
]

const last = 1
const control = 0x80

describe("packets", () => {
  it("are a control byte, two ids, a length and the data", () => {
    expect(Packet.encode({ kind: Message, streamId: 1, messageId: 300, data: new Uint8Array([9, 8]) })).toStrictEqual(
      new Uint8Array([(Message << 1) | last, 1, 0xac, 0x02, 2, 9, 8])
    )
  })

  it("carry the control flag when they cancel", () => {
    expect(Packet.encode({ kind: Cancel, streamId: 1, messageId: 4, data: new Uint8Array(0) })).toStrictEqual(
      new Uint8Array([control | (Cancel << 1) | last, 1, 4, 0])
    )
  })

  it("are decoded from any chunks", () => {
    const kinds = fc.constantFrom(...Object.values(Packet.Kind))
    const packets = fc
      .array(fc.tuple(kinds, fc.nat(300), fc.uint8Array({ maxLength: 300 })))
      .map((all) => all.map(([kind, gap, data], index) => ({ kind, streamId: 1 + (index >> 2), messageId: 1 + index * 301 + gap, data })))
    fc.assert(
      fc.property(packets, fc.array(fc.nat()), (sent, cuts) => {
        const bytes = Uint8Array.from(sent.flatMap((packet) => [...Packet.encode(packet)]))
        expect(decodeAll(cut(bytes, cuts))).toStrictEqual(sent.map((packet) => ({ ...packet, data: [...packet.data] })))
      })
    )
  })

  it("are decoded or refused for any bytes in any chunks", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.array(fc.nat()), (bytes, cuts) => {
        expect(decodeAll(cut(bytes, cuts))).toStrictEqual(decodeAll([bytes]))
      })
    )
  })

  it("are split into frames of 64 KiB", () => {
    const data = new Uint8Array(2 * Packet.maximumFrameBytes + 1).fill(5)
    const bytes = Packet.encode({ kind: Message, streamId: 1, messageId: 1, data })
    expect([...bytes.subarray(0, 6)]).toStrictEqual([Message << 1, 1, 1, 0x80, 0x80, 0x04])
    expect([...bytes.subarray(-5)]).toStrictEqual([(Message << 1) | last, 1, 1, 1, 5])
    expect(bytes.length).toBe(data.length + 6 + 6 + 4)
    expect(decodeAll(cut(bytes, [70_000, 131_100]))).toStrictEqual([{ kind: Message, streamId: 1, messageId: 1, data: [...data] }])
  })

  it("split over three frames are decoded as one", () => {
    const bytes = [...frame(Message << 1, 1, 2, [1]), ...frame(Message << 1, 1, 2, [2, 3]), ...frame((Message << 1) | last, 1, 2, [4])]
    expect(decodeAll([Uint8Array.from(bytes)])).toStrictEqual([{ kind: Message, streamId: 1, messageId: 2, data: [1, 2, 3, 4] }])
  })

  it("that are unfinished are discarded by a new id", () => {
    const bytes = [...frame(Message << 1, 1, 1, [1]), ...frame((CloseSend << 1) | last, 1, 2, [])]
    expect(decodeAll([Uint8Array.from(bytes)])).toStrictEqual([{ kind: CloseSend, streamId: 1, messageId: 2, data: [] }])
  })

  it("of unknown kinds are skipped with the control flag, and refused without", () => {
    const known = frame((Invoke << 1) | last, 1, 2, [7])
    const skipped = [...frame(control | (60 << 1) | last, 1, 1, [1, 2, 3]), ...known]
    expect(decodeAll([Uint8Array.from(skipped)])).toStrictEqual([{ kind: Invoke, streamId: 1, messageId: 2, data: [7] }])
    expect(decodeAll([Uint8Array.from([...frame((60 << 1) | last, 1, 1, []), ...known])])).toStrictEqual(["unknown kind 60"])
  })

  const refused: Record<string, { readonly bytes: ReadonlyArray<number>; readonly why: string }> = {
    "a lower message id": { bytes: [...frame(5, 1, 2, []), ...frame(5, 1, 1, [])], why: "ids decrease" },
    "a lower stream id": { bytes: [...frame(5, 2, 1, []), ...frame(5, 1, 9, [])], why: "ids decrease" },
    "a stream id of 0": { bytes: frame(5, 0, 1, []), why: "ids start at 1" },
    "a message id of 0": { bytes: frame(5, 1, 0, []), why: "ids start at 1" },
    "another kind under the same ids": { bytes: [...frame(4, 1, 1, [1]), ...frame(3, 1, 1, [])], why: "a packet changes its kind" },
    "a number of more than 10 bytes": { bytes: [5, ...Array.from({ length: 10 }, () => 0x80), 1], why: "a number is too long" },
    "a number beyond 2^53": { bytes: [5, ...Array.from({ length: 8 }, () => 0xff), 1], why: "a number is too large" },
    "more than 4 MiB in one frame": { bytes: [5, 1, 1, 0x81, 0x80, 0x80, 0x02], why: "a packet is larger than 4194304 bytes" }
  }
  for (const [breach, { bytes, why }] of Object.entries(refused))
    it(`with ${breach} are refused, and nothing behind them is found`, () => {
      expect(decodeAll([Uint8Array.from([...bytes, ...frame(5, 100, 100, [])])]).at(-1)).toBe(why)
    })

  it("may have 4 MiB over all frames, and not a byte more", () => {
    const data = new Uint8Array(Packet.maximumPacketBytes)
    const whole = Packet.encode({ kind: Message, streamId: 1, messageId: 1, data })
    expect(new Packet.Decoder().decode(whole).map((found) => found.kind)).toStrictEqual([Message])
    const over = Packet.encode({ kind: Message, streamId: 1, messageId: 1, data: new Uint8Array(Packet.maximumPacketBytes + 1) })
    expect(new Packet.Decoder().decode(over).map((found) => found.kind)).toStrictEqual(["Violation"])
  })

  it("hold only the bytes that arrived, for any announced length", () => {
    const decoder = new Packet.Decoder()
    decoder.decode(new Uint8Array([4, 1, 1, 0x80, 0x80, 0x80, 0x01, 1, 2, 3]))
    expect(decoder.held).toBe(3)
  })
})
