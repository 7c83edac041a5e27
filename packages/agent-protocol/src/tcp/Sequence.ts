/** Sequence numbers, which begin again after the last one of 32 bits (RFC 9293 §3.4). */

/** The distance from one sequence number to another, which may be before it. */
export const distance = (from: number, to: number): number => (to - from) | 0

export const plus = (sequence: number, count: number): number => (sequence + count) >>> 0
