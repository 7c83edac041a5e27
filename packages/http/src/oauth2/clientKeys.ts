/** The public keys of clients that authenticate with signatures: given at their registration, or fetched and kept for a while. */
import { keySetViolation, type OAuth2App } from "@atelier/core/oauth2"
import { Lru, makeKeyedLock, Monotonic } from "@atelier/core/platform"
import type { NodeKeySets } from "@atelier/node"
import { Effect, Option } from "effect"
import type { JSONWebKeySet } from "jose"
import { parseFirst, Unreadable } from "../server/codec/json.js"

/** Milliseconds for which a fetched set is used, and after which an unknown key or a failure may make it be fetched again. */
const keptFor = 10 * 60_000
const fetchedAgainAfter = 60_000

/** Milliseconds for which a set is used while its server is away: a key that a client has withdrawn is good no longer than this. */
const usedFor = 60 * 60_000

/** Sets that are kept at least, and at most twice as many: 64 kB each, and clients that register themselves name their addresses. */
const capacity = 250

/** What the last fetches of an address have brought. Times are in milliseconds since 1970. */
interface Kept {
  readonly askedAt: number
  readonly hasFailed: boolean
  readonly found: { readonly at: number; readonly keys: JSONWebKeySet } | undefined
}

const isKeySet = (value: unknown): value is JSONWebKeySet => keySetViolation(value) === undefined

/**
 * Returns how the keys of a client are found; undefined if none can be had. `isRenewed` asks for what its server has now, unless it was asked a moment
 * ago. Requests for one address share a fetch.
 */
export const makeClientKeys = (fetchKeySet: (uri: string) => ReturnType<typeof NodeKeySets.fetchKeySet>) => {
  const kept = Lru.make<string, Kept>(capacity)
  const oneAtATime = makeKeyedLock<string>()

  /** The keys that are in use without a fetch; none if one is due. */
  const keysInUse = (known: Kept | undefined, now: number, isRenewed: boolean): Option.Option<JSONWebKeySet | undefined> => {
    if (known === undefined) return Option.none()
    // A failure counts too: a server that is away is not asked at each request
    const restsFor = isRenewed || known.hasFailed ? fetchedAgainAfter : keptFor
    if (now - known.askedAt >= restsFor) return Option.none()
    return Option.some(known.found !== undefined && now - known.found.at < usedFor ? known.found.keys : undefined)
  }

  const fetched = (uri: string, isRenewed: boolean) =>
    Effect.gen(function* () {
      const now = yield* Monotonic.now
      const known = kept.get(uri)
      const inUse = keysInUse(known, now, isRenewed)
      if (Option.isSome(inUse)) return inUse.value
      const text = yield* Effect.option(fetchKeySet(uri))
      const parsed = Option.match(text, { onNone: () => undefined, onSome: parseFirst })
      const keys = !(parsed instanceof Unreadable) && isKeySet(parsed) ? parsed : undefined
      const next: Kept = {
        askedAt: now,
        hasFailed: keys === undefined,
        found: keys === undefined ? known?.found : { at: now, keys }
      }
      kept.set(uri, next)
      return Option.getOrUndefined(keysInUse(next, now, isRenewed))
    })

  return ({ metadata: { jwks, jwks_uri } }: OAuth2App, isRenewed: boolean): Effect.Effect<JSONWebKeySet | undefined> => {
    if (jwks !== undefined) return Effect.succeed(isKeySet(jwks) ? jwks : undefined)
    return jwks_uri === undefined ? Effect.succeed(undefined) : oneAtATime(jwks_uri)(fetched(jwks_uri, isRenewed))
  }
}
