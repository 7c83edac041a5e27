import { binaryFrames, BinaryMessages, takeBinary, writeTogether } from "@atelier/agent-protocol"
import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { EventEmitter } from "node:events"

interface Frame {
  readonly first: number
  readonly payload: Uint8Array
  readonly mask: ReadonlyArray<number> | undefined
}

/** The bytes of a frame, with its length in the shortest form. */
const encoded = ({ first, mask, payload }: Frame): Buffer => {
  const { length } = payload
  const short = length < 126 ? length : length < 65_536 ? 126 : 127
  const head = Buffer.alloc(short < 126 ? 2 : short === 126 ? 4 : 10)
  head[0] = first
  head[1] = short | (mask === undefined ? 0 : 0x80)
  if (short === 126) head.writeUInt16BE(length, 2)
  if (short === 127) head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head, Buffer.from(mask ?? []), payload])
}

const split = (bytes: Buffer, sizes: ReadonlyArray<number>): Array<Buffer> => {
  const chunks: Array<Buffer> = []
  let from = 0
  for (let at = 0; from < bytes.length; at++) {
    const to = from + (sizes[at % sizes.length] ?? 1)
    chunks.push(bytes.subarray(from, to))
    from = to
  }
  return chunks
}

/** The bytes that were taken, those that were passed on, and the count of messages that ended. */
const readOf = (chunks: ReadonlyArray<Uint8Array>, isMasked: boolean) => {
  const taken: Array<Uint8Array> = []
  const passed: Array<Uint8Array> = []
  let messages = 0
  const reader = new BinaryMessages({
    isMasked,
    take: (bytes, isLast) => {
      taken.push(bytes)
      if (isLast) messages += 1
    },
    pass: (bytes) => void passed.push(bytes)
  })
  for (const chunk of chunks) reader.receive(chunk)
  return { taken: Buffer.concat(taken).toString("hex"), passed: Buffer.concat(passed).toString("hex"), messages }
}

const zeros = [0, 0, 0, 0]
const payloads = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 200 }),
  fc.constantFrom(125, 126, 65_535, 65_536).map((length) => new Uint8Array(length).fill(length))
)
const chunkSizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constant(65_536)), { minLength: 1, maxLength: 8 })

describe("binary messages of a WebSocket", () => {
  it("are taken in any pieces, and everything else is passed on as it is", () => {
    const small = fc.uint8Array({ maxLength: 20 })
    const others = (mask: Frame["mask"]) =>
      fc.oneof(
        // A ping, a text, a message in three frames with a pong in between, and a message with an extension
        small.map((payload) => [{ first: 0x89, payload, mask }]),
        small.map((payload) => [{ first: 0x81, payload, mask }]),
        small.map((payload) => [0x02, 0x00, 0x8a, 0x80].map((first) => ({ first, payload, mask }))),
        small.map((payload) => [{ first: 0xc2, payload, mask }]),
        // A whole message within one in several frames is an error, which is the library's to find
        small.map((payload) => [0x02, 0x82, 0x80].map((first) => ({ first, payload, mask }))),
        // The other side's frames have no masks, and those of clients may change the payload
        small.map((payload) => [{ first: 0x82, payload, mask: mask === undefined ? zeros : undefined }]),
        small.map((payload) => [{ first: 0x82, payload, mask: mask === undefined ? [1, 2, 3, 4] : [0, 0, 0, 1] }])
      )
    const parts = (mask: Frame["mask"]) =>
      fc.oneof(
        payloads.map((payload) => ({ isBinary: true, frames: [{ first: 0x82, payload, mask }] })),
        others(mask).map((frames) => ({ isBinary: false, frames }))
      )
    const conversations = fc
      .boolean()
      .chain((isMasked) =>
        fc.record({ isMasked: fc.constant(isMasked), parts: fc.array(parts(isMasked ? zeros : undefined), { maxLength: 12 }) })
      )
    fc.assert(
      fc.property(conversations, chunkSizes, ({ isMasked, parts }, sizes) => {
        const all = Buffer.concat(parts.flatMap(({ frames }) => frames.map(encoded)))
        const expected = parts.flatMap(({ frames, isBinary }) => (isBinary ? frames.map(({ payload }) => payload) : []))
        const rest = parts.flatMap(({ frames, isBinary }) => (isBinary ? [] : frames.map(encoded)))
        expect(readOf(split(all, sizes), isMasked)).toStrictEqual({
          taken: Buffer.concat(expected).toString("hex"),
          passed: Buffer.concat(rest).toString("hex"),
          messages: expected.length
        })
      }),
      { numRuns: 100 }
    )
  })

  it("count for nothing behind a close frame, and behind a length that no message has", () => {
    const message: Frame = { first: 0x82, payload: Buffer.from("late"), mask: undefined }
    const close = encoded({ first: 0x88, payload: Buffer.from([3, 232]), mask: undefined })
    const endless = Buffer.from([0x82, 127, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])
    for (const end of [close, endless]) {
      const bytes = Buffer.concat([end, encoded(message)])
      expect(readOf(split(bytes, [3]), false)).toStrictEqual({ taken: "", passed: end.toString("hex"), messages: 0 })
    }
  })

  it("carry pieces of any sizes, and copy none", () => {
    fc.assert(
      fc.property(fc.array(payloads, { minLength: 1, maxLength: 8 }), fc.boolean(), chunkSizes, (pieces, isMasked, sizes) => {
        const { frames, messages } = binaryFrames(pieces, isMasked)
        expect(pieces.every((piece) => frames.includes(piece))).toBe(true)
        expect(readOf(split(Buffer.concat(frames), sizes), isMasked)).toStrictEqual({
          taken: Buffer.concat(pieces).toString("hex"),
          passed: "",
          messages
        })
      }),
      { numRuns: 50 }
    )
  })

  it("may have more pieces than a call takes arguments", () => {
    const piece = new Uint8Array(1)
    const { frames, messages } = binaryFrames(
      Array.from({ length: 300_000 }, () => piece),
      false
    )
    expect([frames.length - messages, messages]).toStrictEqual([300_000, 3])
  })

  it("remain with the library where others read the connection too", () => {
    const connection = new EventEmitter()
    const heard: Array<string> = []
    connection.on("data", () => heard.push("library")).on("data", () => heard.push("other"))
    expect(takeBinary(connection, { isMasked: false, take: () => void heard.push("taken") })).toBe(false)
    connection.emit("data", encoded({ first: 0x82, payload: Buffer.from("x"), mask: undefined }))
    expect(heard).toStrictEqual(["library", "other"])
  })

  it("that are empty count as sent", async () => {
    const written: Array<Uint8Array> = []
    const sink = { cork: () => undefined, uncork: () => undefined, write: (bytes: Uint8Array) => written.push(bytes) }
    expect(await new Promise((resolve) => writeTogether(sink, [], resolve))).toBe(undefined)
    expect(written).toStrictEqual([])
  })
})
