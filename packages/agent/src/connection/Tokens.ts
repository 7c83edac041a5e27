/** The agent's token, and tokens that may take its place. */
import { Redacted } from "effect"

/** Offered tokens that are kept. A replica that offers one may be gone before it makes it valid, so another one offers the next. */
const maximumOffered = 4

export interface Tokens {
  /** The token that the agent works with. */
  readonly current: () => Redacted.Redacted
  /** The tokens to try, in this order: the server may have made an offered one valid, and ended the agent's own, while there was no connection. */
  readonly candidates: () => readonly [Redacted.Redacted, ...ReadonlyArray<Redacted.Redacted>]
  /** Keeps an offered token, which is not valid yet. */
  readonly keep: (token: Redacted.Redacted) => void
  /** Takes a token that the server has accepted, and forgets the others. */
  readonly accept: (token: Redacted.Redacted) => void
}

/** Tokens in memory alone: an agent that starts anew is given its token by its engine. */
export const make = (own: Redacted.Redacted): Tokens => {
  let current = own
  let offered: ReadonlyArray<Redacted.Redacted> = []
  return {
    current: () => current,
    candidates: () => [current, ...offered],
    keep: (token) => {
      offered = [token, ...offered].slice(0, maximumOffered)
    },
    accept: (token) => {
      if (token === current) return
      current = token
      offered = []
    }
  }
}
