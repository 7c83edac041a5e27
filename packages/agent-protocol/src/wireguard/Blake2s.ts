/** The hash function BLAKE2s (RFC 7693), and what WireGuard builds of it. */
import { concatenate } from "../ByteBuffer.js"

const initial = Uint32Array.of(0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19)

/** The order of the message's words in each round, as hexadecimal digits. */
const schedule = [
  "0123456789abcdef",
  "ea489fd61c02b753",
  "b8c052fdae367194",
  "7931dcbe265a40f8",
  "905724afe1bc683d",
  "2c6a0b834d75fe19",
  "c51fed4a0763928b",
  "db7ec13950f4862a",
  "6fe9b308c2d714a5",
  "a2847615fb9e3cd0"
].map((round) => Array.from(round, (digit) => Number.parseInt(digit, 16)))

/** The words of the state that each of the eight steps of a round mixes: the columns, then the diagonals. */
const steps = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14]
] as const

const blockLength = 64

export const hashLength = 32

/** A word of an array whose length is fixed. */
const at = (words: Uint32Array, index: number): number => words[index] ?? 0

const rotate = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits))

const compress = (state: Uint32Array, block: DataView, bytesBefore: number, isLast: boolean): void => {
  const v = new Uint32Array(16)
  v.set(state)
  v.set(initial, 8)
  v[12] = at(v, 12) ^ (bytesBefore >>> 0)
  if (isLast) v[14] = ~at(v, 14)
  for (const order of schedule) {
    steps.forEach(([a, b, c, d], step) => {
      const first = block.getUint32(4 * (order[2 * step] ?? 0), true)
      const second = block.getUint32(4 * (order[2 * step + 1] ?? 0), true)
      v[a] = at(v, a) + at(v, b) + first
      v[d] = rotate(at(v, d) ^ at(v, a), 16)
      v[c] = at(v, c) + at(v, d)
      v[b] = rotate(at(v, b) ^ at(v, c), 12)
      v[a] = at(v, a) + at(v, b) + second
      v[d] = rotate(at(v, d) ^ at(v, a), 8)
      v[c] = at(v, c) + at(v, d)
      v[b] = rotate(at(v, b) ^ at(v, c), 7)
    })
  }
  for (let index = 0; index < 8; index++) state[index] = at(state, index) ^ at(v, index) ^ at(v, index + 8)
}

/** The hash of a text of less than 4 GiB: `length` bytes, with a key of at most 32. */
const digest = (input: Uint8Array, length: number, key: Uint8Array): Uint8Array => {
  const state = new Uint32Array(initial)
  state[0] = at(state, 0) ^ 0x01010000 ^ (key.length << 8) ^ length
  const keyBlock = new Uint8Array(key.length === 0 ? 0 : blockLength)
  keyBlock.set(key)
  const text = concatenate([keyBlock, input])
  const blocks = Math.max(1, Math.ceil(text.length / blockLength))
  const padded = new Uint8Array(blocks * blockLength)
  padded.set(text)
  for (let block = 0; block < blocks; block++) {
    const isLast = block === blocks - 1
    const view = new DataView(padded.buffer, block * blockLength, blockLength)
    compress(state, view, isLast ? text.length : (block + 1) * blockLength, isLast)
  }
  const output = new Uint8Array(hashLength)
  const view = new DataView(output.buffer)
  state.forEach((word, index) => view.setUint32(4 * index, word, true))
  return output.subarray(0, length)
}

const noKey = new Uint8Array(0)

/** The hash of several parts, one behind the other. */
export const hash = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => digest(concatenate(parts), hashLength, noKey)

/** The keyed hash of 16 bytes that authenticates WireGuard's messages of the handshake. */
export const mac = (key: Uint8Array, input: Uint8Array): Uint8Array => digest(input, 16, key)

/** HMAC (RFC 2104) with a key of at most 64 bytes. */
export const hmac = (key: Uint8Array, ...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const pad = (byte: number): Uint8Array => Uint8Array.from({ length: blockLength }, (_, index) => (key[index] ?? 0) ^ byte)
  return hash(pad(0x5c), hash(pad(0x36), ...parts))
}

/** Three keys that are derived from a chaining key and an input; WireGuard uses one, two or all. */
export const derive = (chain: Uint8Array, input: Uint8Array): readonly [first: Uint8Array, second: Uint8Array, third: Uint8Array] => {
  const secret = hmac(chain, input)
  const first = hmac(secret, Uint8Array.of(1))
  const second = hmac(secret, first, Uint8Array.of(2))
  return [first, second, hmac(secret, second, Uint8Array.of(3))]
}
