/** Numbers that follow from a seed alone. */

/** A source of numbers that look random and are the same for the same seed. */
export interface Chance {
  /** A number from 0 to 1, without 1. */
  readonly next: () => number
  /** A whole number below a limit. */
  readonly below: (limit: number) => number
  /** Whether something happens that has this likelihood. */
  readonly is: (likelihood: number) => boolean
  readonly pick: <A>(items: readonly [A, ...ReadonlyArray<A>]) => A
  readonly bytes: (length: number) => Uint8Array
}

/** The generator Mulberry32, whose state is one word of 32 bits. */
export const chanceOf = (seed: number): Chance => {
  let state = seed >>> 0
  const word = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  // Neighbouring seeds begin with similar words
  for (let skipped = 0; skipped < 4; skipped++) word()
  const next = (): number => word() / 4_294_967_296
  const below = (limit: number): number => Math.floor(next() * limit)
  return {
    next,
    below,
    is: (likelihood) => next() < likelihood,
    pick: (items) => items[below(items.length)] ?? items[0],
    bytes: (length) => Uint8Array.from({ length }, () => word() & 0xff)
  }
}
