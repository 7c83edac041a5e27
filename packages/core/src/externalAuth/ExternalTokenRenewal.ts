import { Clock, Duration, Effect, Option, Redacted, Schedule } from "effect"
import { makeKeyedLock } from "../platform/collections/KeyedLock.js"
import type { Locks } from "../platform/store/Locks.js"
import * as Lru from "../platform/collections/Lru.js"
import * as Monotonic from "../platform/time/Monotonic.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { whileUnavailable } from "../platform/store/StoreUnavailable.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import type { ExternalAuthClient } from "./ExternalAuthClient.js"
import type { ExternalAuthTokenSet, SealedExternalAuthLink } from "./ExternalAuthLink.js"
import type { ExternalAuthRepository } from "./ExternalAuthRepository.js"
import type { ExternalTokenSealing } from "./ExternalTokenSealing.js"

/** Characters of a provider's reason that are kept. */
const maximumReason = 400

/** Repeats a request after a failure that may pass: after a quarter of a second first, for at most ten seconds. */
const patience = Schedule.exponential("250 millis").pipe(
  Schedule.modifyDelay((_, delay) => Duration.min(delay, "2 seconds")),
  Schedule.upTo("10 seconds")
)

/** How long storing new tokens is retried while the store is unavailable: the provider gives them once. */
export const storing = Schedule.exponential("250 millis").pipe(
  Schedule.modifyDelay((_, delay) => Duration.min(delay, "2 seconds")),
  Schedule.upTo("30 seconds")
)

/** Milliseconds before its end at which a token is renewed, so that it does not end on its way to the provider. */
export const leeway = 60_000

/** Milliseconds in which a provider that could not be asked is not asked again for the same link. */
export const restAfterFailure = 10_000

/** The number of links whose failure, or last validation, is remembered. */
export const rememberedLinks = 1000

/** How often, and for how long, one waits for another process that asks the provider. */
const waiting = Schedule.intersect(Schedule.spaced("100 millis"), Schedule.recurs(300))

/** Whether stored tokens are those that were sent; another process may have given up the refresh token. */
const isStill = (sent: ExternalAuthTokenSet, stored: ExternalAuthTokenSet): boolean => {
  const [given, present] = [Redacted.value(sent.refresh_token), Redacted.value(stored.refresh_token)]
  return Redacted.value(stored.access_token) === Redacted.value(sent.access_token) && (present === given || present === "")
}

/** Whether the access token has ended, or will have in `ahead` milliseconds. */
export const hasExpired = ({ oauth_expiry }: SealedExternalAuthLink, ahead = 0): Effect.Effect<boolean> =>
  oauth_expiry === null
    ? Effect.succeed(false)
    : Effect.map(Clock.currentTimeMillis, (now) => Timestamp.toMillis(oauth_expiry) <= now + ahead)

/** Revokes tokens that no link stores. */
export const forget = (client: Pick<ExternalAuthClient, "provider" | "revoke">, tokens: ExternalAuthTokenSet): Effect.Effect<void> =>
  Effect.catchAll(Effect.asVoid(client.revoke(tokens)), ({ detail, message }) =>
    Effect.logWarning("tokens of an external provider could not be revoked", { provider: client.provider.id, message, detail })
  )

interface Needs extends Pick<ExternalTokenSealing, "seal" | "open"> {
  readonly repository: ExternalAuthRepository["Type"]
  readonly locks: Locks["Type"]
}

/** The renewal of a link's tokens, once at a time in all replicas, with a rest after a failure. */
export const externalTokenRenewal = ({ seal, repository, open, locks }: Needs) => {
  const oneAtATime = makeKeyedLock<Uuid>()

  const failures = Lru.make<Uuid, { readonly until: number }>(rememberedLinks)

  /**
   * Stores the provider's answer about a link's tokens, also if they have been encrypted anew since they were read. Returns what is stored
   * instead of them: no link any more, or the tokens of another login or renewal.
   */
  const replace = (link: SealedExternalAuthLink, sent: ExternalAuthTokenSet, tokens: ExternalAuthTokenSet, refresh_failure: string) =>
    Effect.gen(function* () {
      let from = link.tokens
      while (true) {
        const updated_at = yield* Timestamp.now
        const to = { oauth_expiry: tokens.expires_at, refresh_failure, updated_at, tokens: yield* seal(link, tokens) }
        if (yield* repository.replaceTokens(link.id, from, to)) return "stored"
        const present = Option.getOrUndefined(yield* repository.find(link.user_id, link.provider_id))
        if (present === undefined) return "removed"
        // A new sign-in makes a new link
        if (present.id !== link.id) return "replaced"
        const stored = Option.getOrUndefined(yield* open(present))
        if (stored === undefined || !isStill(sent, stored)) return "replaced"
        from = present.tokens
      }
    }).pipe(whileUnavailable(storing))

  /** Asks the provider, which may accept each refresh token once: after the request begins, its answer must be stored. */
  const renew = (client: ExternalAuthClient, link: SealedExternalAuthLink, tokens: ExternalAuthTokenSet) =>
    client.refresh(tokens.refresh_token).pipe(
      Effect.retry({ schedule: patience, while: (error) => error._tag === "ExternalAuthFailure" && error.isTransient }),
      Effect.matchEffect({
        onSuccess: (given) => {
          const isKept = Redacted.value(given.refresh_token) === ""
          const renewed = isKept ? { ...given, refresh_token: tokens.refresh_token } : given
          return Effect.flatMap(replace(link, tokens, renewed, ""), (outcome) =>
            // The removal revoked the tokens that it found
            outcome === "removed" ? forget(client, renewed) : Effect.void
          )
        },
        onFailure: (error) =>
          error._tag === "ExternalAuthRefused"
            ? Effect.asVoid(
                replace(
                  link,
                  tokens,
                  { ...tokens, refresh_token: Redacted.make("") },
                  `${error.code}: ${error.detail}`.slice(0, maximumReason)
                )
              )
            : Effect.zipRight(
                Effect.map(Monotonic.now, (now) => failures.set(link.id, { until: now + restAfterFailure })),
                Effect.logWarning("a token of an external provider could not be renewed", {
                  provider: link.provider_id,
                  link: link.id,
                  message: error.message,
                  detail: error.detail
                })
              )
      }),
      Effect.uninterruptible
    )

  const isResting = (link: SealedExternalAuthLink): Effect.Effect<boolean> =>
    Effect.map(Monotonic.now, (now) => (failures.get(link.id)?.until ?? Number.NEGATIVE_INFINITY) > now)

  /** Of any number of callers, in any number of processes, one asks the provider, and the others find what it stored. */
  const renewOnce = (client: ExternalAuthClient, { id, user_id }: SealedExternalAuthLink): Effect.Effect<void> =>
    locks
      .tryWith(
        `external-auth-link/${id}`,
        Effect.gen(function* () {
          const link = Option.getOrUndefined(yield* repository.find(user_id, client.provider.id))
          if (link === undefined || link.id !== id || !(yield* hasExpired(link, leeway)) || (yield* isResting(link))) return
          const tokens = Option.getOrUndefined(yield* open(link))
          if (tokens !== undefined && Redacted.value(tokens.refresh_token) !== "") yield* renew(client, link, tokens)
        })
      )
      .pipe(
        Effect.flatMap(Option.match({ onNone: () => Effect.fail("held elsewhere" as const), onSome: () => Effect.void })),
        Effect.retry(waiting),
        Effect.ignore,
        oneAtATime(id),
        // A caller that is interrupted stops waiting; a request to the provider that has begun still completes
        Effect.interruptible
      )

  return { failures, isResting, renewOnce }
}
