import type { UserId } from "@atelier/core/identity"

/** Keys that a process issues to a user before it counts the user's keys again. */
const issuedAtMost = 64

/** Users whose count is remembered. */
const maximumUsers = 1_000

interface Count {
  readonly counted: number
  issued: number
}

/**
 * How many keys users have at most, as far as this process knows: those that it counted and those that it issued since. Counting takes the store longer than
 * storing a key, once a user has some hundreds.
 */
export const makeKeyCounts = () => {
  const counts = new Map<UserId, Count>()
  return {
    /** The number of a user's keys, or undefined if they have to be counted: also if they may have reached the limit. */
    known: (user: UserId, limit: number): number | undefined => {
      const count = counts.get(user)
      if (count === undefined || count.issued >= issuedAtMost) return undefined
      const keys = count.counted + count.issued
      return keys < limit ? keys : undefined
    },
    /** Remembers the number of keys that a user had before another one was issued. */
    issued: (user: UserId, known: number | undefined, keys: number): void => {
      const count = counts.get(user)
      if (known !== undefined && count !== undefined) {
        count.issued++
        return
      }
      counts.set(user, { counted: keys, issued: 1 })
      const [oldest] = counts.keys()
      if (counts.size > maximumUsers && oldest !== undefined) counts.delete(oldest)
    }
  }
}
