import { Clock, Context, Duration, Effect, Option, Redacted, Schedule, Schema } from "effect"
import { constantTimeEquals } from "../platform/secrets/Cryptography.js"
import { Encryption, type Sealed } from "../platform/secrets/Encryption.js"
import { type Channel, channelsOf, EventBus } from "../platform/events/EventBus.js"
import { Ids } from "../platform/Ids.js"
import { makeKeyedLock } from "../platform/collections/KeyedLock.js"
import { Locks } from "../platform/store/Locks.js"
import * as Lru from "../platform/collections/Lru.js"
import { openRow, type SealedColumn } from "../platform/store/Resealing.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { whileUnavailable } from "../platform/store/StoreUnavailable.js"
import { publish } from "../platform/store/Transactor.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import { type ExternalAuthClient, ExternalAuthFailure, type ExternalAuthUser } from "./ExternalAuthClient.js"
import type { ExternalAuthTokenSet, SealedExternalAuthLink } from "./ExternalAuthLink.js"
import { ExternalAuthRepository } from "./ExternalAuthRepository.js"
import * as Traced from "../platform/wiring/Traced.js"
import { service } from "../platform/wiring/Standing.js"

/** The tokens, encrypted as one value. */
const Stored = Schema.parseJson(
  Schema.Struct({
    access_token: Schema.String,
    refresh_token: Schema.String,
    extra: Schema.NullOr(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
  })
)

const placeOf: SealedColumn["placeOf"] = ({ id, user_id }) => `external_auth_links.tokens/${user_id}/${id}`

/** The column that stores the tokens, for the replacement of encryption keys. */
export const externalAuthTokenColumn = ({ reseal, sealedOtherwise }: ExternalAuthRepository["Type"]): SealedColumn => ({
  name: "a user's tokens of an external provider",
  placeOf,
  sealedOtherwise,
  reseal
})

/** Tells agents that wait for a token that a user has a new link. */
const linked = channelsOf("external-auth", Schema.Struct({ provider_id: Schema.String }))

/** The links that a user makes. */
export const newLinksOf = (userId: Uuid): Channel<{ readonly provider_id: string }> => linked(userId)

/** A link as it stands after its tokens were renewed, if they had to be, and validated. */
export type ExternalAuthStanding =
  | { readonly authenticated: true; readonly tokens: ExternalAuthTokenSet; readonly user: ExternalAuthUser | null }
  | { readonly authenticated: false; readonly reason: string }

/** Characters of a provider's reason that are kept. */
const maximumReason = 400

/** Repeats a request after a failure that may pass: after a quarter of a second first, for at most ten seconds. */
const patience = Schedule.exponential("250 millis").pipe(
  Schedule.modifyDelay((_, delay) => Duration.min(delay, "2 seconds")),
  Schedule.upTo("10 seconds")
)

/** How long storing new tokens is retried while the store is unavailable: the provider gives them once. */
const storing = Schedule.exponential("250 millis").pipe(
  Schedule.modifyDelay((_, delay) => Duration.min(delay, "2 seconds")),
  Schedule.upTo("30 seconds")
)

/** Milliseconds before its end at which a token is renewed, so that it does not end on its way to the provider. */
const leeway = 60_000

/** Milliseconds in which a provider that could not be asked is not asked again for the same link. */
const restAfterFailure = 10_000

/** The number of links whose failure, or last validation, is remembered. */
const rememberedLinks = 1000

/** The last validation of a link's token for agents that wait. */
interface Validation {
  readonly tokens: Sealed
  readonly isValid: boolean
  /** Milliseconds since 1970. */
  readonly at: number
}

/** How often, and for how long, one waits for another process that asks the provider. */
const waiting = Schedule.intersect(Schedule.spaced("100 millis"), Schedule.recurs(300))

const unreachable = new ExternalAuthFailure({
  message: "The provider could not be asked to renew the token.",
  detail: "",
  isTransient: true
})

/** Whether stored tokens are those that were sent; another process may have given up the refresh token. */
const isStill = (sent: ExternalAuthTokenSet, stored: ExternalAuthTokenSet): boolean => {
  const [given, present] = [Redacted.value(sent.refresh_token), Redacted.value(stored.refresh_token)]
  return Redacted.value(stored.access_token) === Redacted.value(sent.access_token) && (present === given || present === "")
}

const isSameSealed = (left: Sealed, right: Sealed): boolean =>
  left.key_id === right.key_id && constantTimeEquals(left.ciphertext, right.ciphertext)

/** The methods of {@link ExternalAuthTokens}. */
export interface ExternalAuthTokensService {
  /** The tokens of a link; none where no key opens them. */
  readonly open: (link: SealedExternalAuthLink) => Effect.Effect<Option.Option<ExternalAuthTokenSet>>

  readonly hasExpired: (link: SealedExternalAuthLink) => Effect.Effect<boolean>

  /**
   * Stores new tokens in place of the user's present ones, and tells the agents that wait for them. Returns false, and revokes the tokens,
   * if the user has been deleted.
   */
  readonly store: (
    userId: Uuid,
    client: Pick<ExternalAuthClient, "provider" | "revoke">,
    tokens: ExternalAuthTokenSet
  ) => Effect.Effect<boolean>

  /** Returns whether the link is valid as it is. An expired token is not renewed. */
  readonly inspect: (client: ExternalAuthClient, link: SealedExternalAuthLink) => Effect.Effect<ExternalAuthStanding, ExternalAuthFailure>

  /** Returns the link's standing, after an expired token was renewed. Fails if the provider cannot be asked. */
  readonly current: (userId: Uuid, client: ExternalAuthClient) => Effect.Effect<ExternalAuthStanding, ExternalAuthFailure>

  /**
   * Returns the tokens of a valid link, for agents that ask until there is one. However many wait, a token that the provider refused is
   * not validated again, and a provider that cannot be asked is asked once in ten seconds for a link.
   */
  readonly awaited: (userId: Uuid, client: ExternalAuthClient) => Effect.Effect<ExternalAuthTokenSet | undefined>
}

const make = Effect.gen(function* () {
  const repository = yield* ExternalAuthRepository
  const encryption = yield* Encryption
  const locks = yield* Locks
  const ids = yield* Ids
  const bus = yield* EventBus
  const oneAtATime = makeKeyedLock<Uuid>()
  const validatedOneAtATime = makeKeyedLock<Uuid>()
  const failures = Lru.make<Uuid, { readonly until: number }>(rememberedLinks)
  const validations = Lru.make<Uuid, Validation>(rememberedLinks)
  const column = externalAuthTokenColumn(repository)
  const encode = Schema.encodeSync(Stored)
  const decode = Schema.decodeOption(Stored)

  const seal = (link: Pick<SealedExternalAuthLink, "id" | "user_id">, { access_token, extra, refresh_token }: ExternalAuthTokenSet) =>
    encryption.seal(
      new TextEncoder().encode(encode({ access_token: Redacted.value(access_token), refresh_token: Redacted.value(refresh_token), extra })),
      placeOf(link)
    )

  const open = (link: SealedExternalAuthLink): Effect.Effect<Option.Option<ExternalAuthTokenSet>> =>
    Effect.map(openRow(encryption, column, { ...link, value: link.tokens }), (bytes) =>
      Option.map(
        Option.flatMap(bytes, (value) => decode(new TextDecoder().decode(value))),
        ({ access_token, extra, refresh_token }) => ({
          access_token: Redacted.make(access_token),
          refresh_token: Redacted.make(refresh_token),
          expires_at: link.oauth_expiry,
          extra
        })
      )
    )

  /** Whether the access token has ended, or will have in `ahead` milliseconds. */
  const hasExpired = ({ oauth_expiry }: SealedExternalAuthLink, ahead = 0): Effect.Effect<boolean> =>
    oauth_expiry === null
      ? Effect.succeed(false)
      : Effect.map(Clock.currentTimeMillis, (now) => Timestamp.toMillis(oauth_expiry) <= now + ahead)

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

  /** Revokes tokens that no link stores. */
  const forget = (client: Pick<ExternalAuthClient, "provider" | "revoke">, tokens: ExternalAuthTokenSet): Effect.Effect<void> =>
    Effect.catchAll(Effect.asVoid(client.revoke(tokens)), ({ detail, message }) =>
      Effect.logWarning("tokens of an external provider could not be revoked", { provider: client.provider.id, message, detail })
    )

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
                Effect.map(Clock.currentTimeMillis, (now) => failures.set(link.id, { until: now + restAfterFailure })),
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
    Effect.map(Clock.currentTimeMillis, (now) => (failures.get(link.id)?.until ?? 0) > now)

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

  const refused = (reason: string): ExternalAuthStanding => ({ authenticated: false, reason })

  /** Validates the token of a link, which has not expired. */
  const validated = (client: ExternalAuthClient, link: SealedExternalAuthLink): Effect.Effect<ExternalAuthStanding, ExternalAuthFailure> =>
    Effect.gen(function* () {
      const tokens = Option.getOrUndefined(yield* open(link))
      if (tokens === undefined) return refused("The stored token cannot be read.")
      const { isValid, user } = yield* client.validate(tokens.access_token)
      return isValid ? { authenticated: true, tokens, user } : refused("The provider does not accept the token any more.")
    })

  /** Why a link whose token has expired was not renewed. */
  const expired = (client: ExternalAuthClient, link: SealedExternalAuthLink): Effect.Effect<ExternalAuthStanding, ExternalAuthFailure> =>
    Effect.gen(function* () {
      if (client.provider.no_refresh) return refused("The token has expired.")
      if (link.refresh_failure !== "") return refused(`The provider does not renew the token: ${link.refresh_failure}`)
      if (yield* isResting(link)) return yield* unreachable
      return refused("The token has expired, and the provider gave none to renew it with.")
    })

  /** The user's link, after a token was renewed that has expired or soon will. One that is not renewed is used to its end. */
  const renewed = (userId: Uuid, client: ExternalAuthClient) =>
    Effect.gen(function* () {
      const found = yield* repository.find(userId, client.provider.id)
      if (Option.isNone(found) || client.provider.no_refresh || !(yield* hasExpired(found.value, leeway))) return found
      yield* renewOnce(client, found.value)
      return yield* repository.find(userId, client.provider.id)
    })

  return {
    open,
    hasExpired: (link: SealedExternalAuthLink): Effect.Effect<boolean> => hasExpired(link),

    store: (userId: Uuid, client: Pick<ExternalAuthClient, "provider" | "revoke">, tokens: ExternalAuthTokenSet): Effect.Effect<boolean> =>
      Effect.gen(function* () {
        const providerId = client.provider.id
        const now = yield* Timestamp.now
        const link = { id: yield* ids.next, user_id: userId, provider_id: providerId }
        const isStored = yield* repository
          .put({
            ...link,
            oauth_expiry: tokens.expires_at,
            refresh_failure: "",
            created_at: now,
            updated_at: now,
            tokens: yield* seal(link, tokens)
          })
          .pipe(whileUnavailable(storing))
        if (isStored) yield* Effect.provideService(publish(newLinksOf(userId), { provider_id: providerId }), EventBus, bus)
        else yield* forget(client, tokens)
        return isStored
      }),

    inspect: (client: ExternalAuthClient, link: SealedExternalAuthLink): Effect.Effect<ExternalAuthStanding, ExternalAuthFailure> =>
      Effect.flatMap(hasExpired(link), (isExpired) => (isExpired ? expired(client, link) : validated(client, link))),

    current: Traced.fn("ExternalAuthTokens.current")(function* (userId: Uuid, client: ExternalAuthClient) {
      const link = Option.getOrUndefined(yield* renewed(userId, client))
      if (link === undefined) return refused("The user has no link to the provider.")
      return (yield* hasExpired(link)) ? yield* expired(client, link) : yield* validated(client, link)
    }),

    awaited: Traced.fn("ExternalAuthTokens.awaited")(function* (userId: Uuid, client: ExternalAuthClient) {
      const link = Option.getOrUndefined(yield* renewed(userId, client))
      if (link === undefined || (yield* hasExpired(link))) return undefined
      return yield* Effect.gen(function* () {
        const tokens = Option.getOrUndefined(yield* open(link))
        if (tokens === undefined) return undefined
        const now = yield* Clock.currentTimeMillis
        const last = validations.get(link.id)
        const isKnown = last !== undefined && isSameSealed(last.tokens, link.tokens) && (!last.isValid || now - last.at < restAfterFailure)
        if (isKnown) return last.isValid ? tokens : undefined
        if (yield* isResting(link)) return undefined
        return yield* Effect.matchEffect(client.validate(tokens.access_token), {
          onSuccess: ({ isValid }) =>
            Effect.sync(() => {
              validations.set(link.id, { tokens: link.tokens, isValid, at: now })
              return isValid ? tokens : undefined
            }),
          onFailure: () =>
            Effect.sync(() => {
              failures.set(link.id, { until: now + restAfterFailure })
              return undefined
            })
        })
      }).pipe(validatedOneAtATime(link.id))
    })
  }
})

/** The tokens that external providers gave for users. Callers have authorized their actors. */
export class ExternalAuthTokens extends Context.Tag("@atelier/core/ExternalAuthTokens")<ExternalAuthTokens, ExternalAuthTokensService>() {
  static readonly layer = service(ExternalAuthTokens, make)
}
