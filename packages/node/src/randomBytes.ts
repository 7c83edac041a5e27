import { randomFillSync } from "node:crypto"

const pool = Buffer.alloc(8192)
let used = pool.length

/** At most 1 KiB of cryptographically secure random bytes: each byte of a pool is handed out once, so that the system is asked rarely. */
export const randomBytes = (length: number): Uint8Array => {
  if (used + length > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const bytes = Uint8Array.prototype.slice.call(pool, used, used + length)
  pool.fill(0, used, used + length)
  used += length
  return bytes
}
