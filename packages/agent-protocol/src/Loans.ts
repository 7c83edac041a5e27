/**
 * Memory into which connections read, and which is used again once what was read has been passed on. To collect the memory of each read costs more than to pass its bytes
 * on. Bytes that their reader does not give back remain the reader's, and are collected like all others.
 */

/** The size of a slab in bytes: as many as one read of a connection brings. */
export const slabBytes = 64 * 1024

/** Slabs that wait to be used again. */
const maximumFree = 64

/** Connections that have a slab each to read into, at most. All others share memory, and their bytes are copied. */
const maximumHeld = 64

/** A piece of memory for one read, and how many bytes of it readers have. */
interface Slab {
  readonly bytes: Uint8Array
  lent: number
  /** Whether a connection reads into it. */
  isHeld: boolean
  /** Whether some bytes were given back twice: another reader may still have others of this memory, which is not used again. */
  isOverdrawn: boolean
}

/** Slabs by their memory, which the pieces of a read have in common. */
const slabs = new WeakMap<ArrayBufferLike, Slab>()

const free: Array<Slab> = []

let held = 0

const settle = (slab: Slab): void => {
  if (slab.lent === 0 && !slab.isHeld && !slab.isOverdrawn && free.length < maximumFree) free.push(slab)
}

/** Memory for a read; undefined while too many connections have some. */
export const take = (): Uint8Array | undefined => {
  if (held >= maximumHeld) return undefined
  let slab = free.pop()
  if (slab === undefined) {
    slab = { bytes: new Uint8Array(slabBytes), lent: 0, isHeld: false, isOverdrawn: false }
    slabs.set(slab.bytes.buffer, slab)
  }
  slab.isHeld = true
  held += 1
  return slab.bytes
}

/** Lends the first bytes of what `take` returned, and ends reading into it. */
export const lend = (bytes: Uint8Array, count: number): void => {
  const slab = slabs.get(bytes.buffer)
  if (slab === undefined || !slab.isHeld) return
  slab.lent += count
  slab.isHeld = false
  held -= 1
  settle(slab)
}

/** Gives back so many bytes of a piece. Its reader does so at most once for each byte, and has nothing of it afterwards. */
export const giveBack = (buffer: ArrayBufferLike, count: number): void => {
  const slab = slabs.get(buffer)
  if (slab === undefined || count === 0) return
  slab.lent -= count
  if (slab.lent < 0) slab.isOverdrawn = true
  settle(slab)
}
