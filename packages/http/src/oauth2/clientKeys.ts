/** The public keys of clients that authenticate with signatures: given at their registration, or fetched and kept for a while. */
import { keySetViolation, type OAuth2App } from "@atelier/core/oauth2"
import { NodeKeySets } from "@atelier/node"
import { Clock, Effect, Option } from "effect"
import type { JSONWebKeySet } from "jose"
import { parseFirst, Unreadable } from "../server/codec/json.js"

/** Milliseconds for which a fetched set is used, and after which an unknown key may make it be fetched again. */
const keptFor = 10 * 60_000
const fetchedAgainAfter = 60_000

/** Sets that are kept at a time. */
const capacity = 500

interface Kept {
  readonly at: number
  readonly keys: JSONWebKeySet | undefined
}

const isKeySet = (value: unknown): value is JSONWebKeySet => keySetViolation(value) === undefined

/** Returns how the keys of a client are found. `isRenewed` asks for what its server has now, unless it was asked a moment ago. */
export const makeClientKeys = (fetchKeySet: typeof NodeKeySets.fetchKeySet) => {
  const kept = new Map<string, Kept>()

  const fetched = (uri: string, isRenewed: boolean) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const known = kept.get(uri)
      // A failure counts too: a server that is away is not asked at each request
      if (known !== undefined && now - known.at < (isRenewed || known.keys === undefined ? fetchedAgainAfter : keptFor)) return known.keys
      const text = yield* Effect.option(fetchKeySet(uri))
      const parsed = Option.match(text, { onNone: () => undefined, onSome: parseFirst })
      const keys = !(parsed instanceof Unreadable) && isKeySet(parsed) ? parsed : undefined
      kept.delete(uri)
      if (kept.size >= capacity) for (const oldest of kept.keys()) if (kept.size >= capacity) kept.delete(oldest)
      kept.set(uri, { at: now, keys: keys ?? known?.keys })
      return keys ?? known?.keys
    })

  return ({ metadata: { jwks, jwks_uri } }: OAuth2App, isRenewed: boolean): Effect.Effect<JSONWebKeySet | undefined> => {
    if (jwks !== undefined) return Effect.succeed(isKeySet(jwks) ? jwks : undefined)
    return jwks_uri === undefined ? Effect.succeed(undefined) : fetched(jwks_uri, isRenewed)
  }
}
