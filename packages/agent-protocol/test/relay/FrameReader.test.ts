import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Relay } from "../../src/index.js"

const { RelayFrame } = Relay
const { FrameType } = RelayFrame

const reader = (treatment: (type: number) => Relay.RelayFrame.Treatment) => {
  const frames: Array<string> = []
  const read = new Relay.FrameReader({
    treatment,
    receive: (frame) => {
      frames.push(Buffer.from(frame).toString("hex"))
      return undefined
    }
  })
  return { frames, push: (bytes: Uint8Array) => read.push(bytes) }
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

/** A header whose payload does not follow. */
const header = (type: number, length: number) =>
  RelayFrame.make(type, new Uint8Array(0)).map((byte, index) => [byte, length >>> 24, length >>> 16, length >>> 8, length][index] ?? 0)

const anyFrame = fc.record({ type: fc.integer({ min: 0, max: 255 }), payload: fc.uint8Array({ maxLength: 6000 }) })

describe("a reader of frames", () => {
  it("gives the same frames however the bytes are split", () => {
    fc.assert(
      fc.property(fc.array(anyFrame, { maxLength: 8 }), fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1 }), (sent, sizes) => {
        const { frames, push } = reader((type) => (type % 3 === 0 ? "skip" : { minimum: 0, maximum: 6000 }))
        const bytes = Buffer.concat(sent.map(({ payload, type }) => RelayFrame.make(type, payload)))
        let offset = 0
        for (let index = 0; offset < bytes.length; index++) {
          const size = sizes[index % sizes.length] ?? 1
          expect(push(new Uint8Array(bytes.subarray(offset, offset + size)))).toBeUndefined()
          offset += size
        }
        expect(frames).toEqual(sent.filter(({ type }) => type % 3 !== 0).map(({ payload, type }) => hex(RelayFrame.make(type, payload))))
      })
    )
  })

  it.each([
    ["a packet without a destination", FrameType.SendPacket, 31],
    ["a packet above 65,536 bytes", FrameType.SendPacket, 32 + 65_537],
    ["a packet of 4 GiB", FrameType.SendPacket, 0xffff_ffff],
    ["a ping of 7 bytes", FrameType.Ping, 7],
    ["a ping of 1,001 bytes", FrameType.Ping, 1001],
    ["a preference of 2 bytes", FrameType.NotePreferred, 2],
    ["an empty preference", FrameType.NotePreferred, 0],
    ["a packet of another relay", FrameType.ForwardPacket, 65],
    ["a request for all connections", FrameType.WatchConns, 0],
    ["a request to close a peer", FrameType.ClosePeer, 32]
  ])("refuses %s by its header", (_, type, length) => {
    const { frames, push } = reader(RelayFrame.afterHandshake)
    expect(push(header(type, length))).toMatch(/type|bytes/)
    const split = reader(RelayFrame.afterHandshake)
    for (const byte of header(type, length).subarray(0, 4)) expect(split.push(Uint8Array.of(byte))).toBeUndefined()
    expect(split.push(header(type, length).subarray(4))).toMatch(/type|bytes/)
    expect([...frames, ...split.frames]).toEqual([])
  })

  it.each([
    ["of 55 bytes", FrameType.ClientInfo, 55],
    ["above 256 KiB", FrameType.ClientInfo, 256 * 1024 + 1],
    ["of another type", FrameType.Ping, 8]
  ])("refuses a first frame %s", (_, type, length) => {
    expect(reader(RelayFrame.beforeHandshake).push(header(type, length))).toMatch(/type|bytes/)
  })

  it("passes over a frame of 4 GiB of an unknown type without keeping it", () => {
    const { frames, push } = reader(RelayFrame.afterHandshake)
    expect(push(header(0x77, 100_000))).toBeUndefined()
    for (let sent = 0; sent < 100_000; sent += 10_000) expect(push(new Uint8Array(10_000))).toBeUndefined()
    expect(push(RelayFrame.make(FrameType.NotePreferred, Uint8Array.of(1)))).toBeUndefined()
    expect(frames).toEqual(["070000000101"])
  })

  it("sets little memory aside on the word of a header", () => {
    const before = process.memoryUsage().arrayBuffers
    const readers = Array.from({ length: 500 }, () => reader(RelayFrame.beforeHandshake))
    for (const { push } of readers) push(Buffer.concat([header(FrameType.ClientInfo, 256 * 1024), new Uint8Array(10)]))
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(500 * 16 * 1024)
  })

  it("turns a packet that is sent into one that is received in the same memory", () => {
    const [destination, source] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
    const sent = RelayFrame.make(FrameType.SendPacket, destination, Uint8Array.of(9, 8, 7))
    const received = RelayFrame.toRecvPacket(sent, source)
    expect(hex(received)).toBe(hex(RelayFrame.make(FrameType.RecvPacket, source, Uint8Array.of(9, 8, 7))))
    expect(received.buffer).toBe(sent.buffer)
  })

  it("tells disco packets by their first bytes and their length", () => {
    const disco = (length: number) => {
      const packet = new Uint8Array(length)
      packet.set([0x54, 0x53, 0xf0, 0x9f, 0x92, 0xac])
      return RelayFrame.make(FrameType.SendPacket, new Uint8Array(32), packet)
    }
    expect([61, 62, 100].map((length) => RelayFrame.isDisco(disco(length)))).toEqual([false, true, true])
    expect(RelayFrame.isDisco(RelayFrame.make(FrameType.SendPacket, new Uint8Array(32), new Uint8Array(100)))).toBe(false)
  })
})
