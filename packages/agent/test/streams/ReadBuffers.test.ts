import { describe, expect, it } from "@effect/vitest"
import { ReadBuffers } from "../../src/streams/ReadBuffers.js"

describe("buffers of a connection", () => {
  it("are used again once their bytes have been sent, and not before", () => {
    const buffers = new ReadBuffers()
    const first = buffers.next()
    const { bytes, sent } = buffers.taken(5000, first)
    expect(bytes.buffer).toBe(first.buffer)
    const second = buffers.next()
    expect(second).not.toBe(first)
    sent?.()
    expect(buffers.next()).toBe(first)
  })

  it("give few bytes away as a copy, and are used again at once", () => {
    const buffers = new ReadBuffers()
    const first = buffers.next()
    first.fill(1, 0, 100)
    const { bytes, sent } = buffers.taken(100, first)
    expect(sent).toBeUndefined()
    expect(buffers.next()).toBe(first)
    first.fill(2)
    expect(bytes).toStrictEqual(Buffer.alloc(100, 1))
  })

  it("become larger up to 256 KiB while reads fill them, and leave the smaller ones", () => {
    const buffers = new ReadBuffers()
    const sizes: Array<number> = []
    const small = buffers.next()
    const { sent } = buffers.taken(small.length, small)
    for (let count = 0; count < 4; count++) {
      const buffer = buffers.next()
      sizes.push(buffer.length)
      buffers.taken(buffer.length, buffer)
    }
    sent?.()
    expect(sizes).toStrictEqual([65_536, 262_144, 262_144, 262_144])
    expect(buffers.next()).toHaveLength(262_144)
  })
})
