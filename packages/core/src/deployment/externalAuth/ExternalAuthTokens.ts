import { Clock, Context, Duration, Effect, Layer, Option, Redacted, Schedule, Schema } from "effect"
import { Encryption } from "../../platform/Encryption.js"
import { type Channel, channelsOf, EventBus } from "../../platform/EventBus.js"
import { Ids } from "../../platform/Ids.js"
import { makeKeyedLock } from "../../platform/KeyedLock.js"
import { Locks } from "../../platform/Locks.js"
import * as Lru from "../../platform/Lru.js"
import { openRow, type SealedColumn } from "../../platform/Resealing.js"
import * as Timestamp from "../../platform/Timestamp.js"
import { publish } from "../../platform/Transactor.js"
import type { Uuid } from "../../platform/Uuid.js"
import type { ExternalAuthClient, ExternalAuthUser } from "./ExternalAuthClient.js"
import type { ExternalAuthTokenSet, SealedExternalAuthLink } from "./ExternalAuthLink.js"
import { ExternalAuthRepository } from "./ExternalAuthRepository.js"

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

/** Milliseconds in which a provider that could not be asked is not asked again for the same link. */
const restAfterFailure = 10_000

/** The number of links whose failure is remembered. */
const rememberedFailures = 1000

/** How often, and for how long, one waits for another process that asks the provider. */
const waiting = Schedule.intersect(Schedule.spaced("100 millis"), Schedule.recurs(300))

const unreachable = "The provider could not be asked to renew the token."

const make = Effect.gen(function* () {
  const repository = yield* ExternalAuthRepository
  const encryption = yield* Encryption
  const locks = yield* Locks
  const ids = yield* Ids
  const bus = yield* EventBus
  const oneAtATime = makeKeyedLock<Uuid>()
  const failures = Lru.make<Uuid, { readonly until: number }>(rememberedFailures)
  const column = externalAuthTokenColumn(repository)
  const encode = Schema.encodeSync(Stored)
  const decode = Schema.decodeOption(Stored)

  const seal = (link: Pick<SealedExternalAuthLink, "id" | "user_id">, { access_token, extra, refresh_token }: ExternalAuthTokenSet) =>
    encryption.seal(
      new TextEncoder().encode(encode({ access_token: Redacted.value(access_token), refresh_token: Redacted.value(refresh_token), extra })),
      placeOf(link)
    )

  /** The tokens of a link; none where no key opens them. */
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

  const hasExpired = ({ oauth_expiry }: SealedExternalAuthLink): Effect.Effect<boolean> =>
    oauth_expiry === null ? Effect.succeed(false) : Effect.map(Clock.currentTimeMillis, (now) => Timestamp.toMillis(oauth_expiry) <= now)

  const replace = (link: SealedExternalAuthLink, tokens: ExternalAuthTokenSet, refresh_failure: string) =>
    Effect.gen(function* () {
      const updated_at = yield* Timestamp.now
      yield* repository.replaceTokens(link.id, link.tokens, {
        oauth_expiry: tokens.expires_at,
        refresh_failure,
        updated_at,
        tokens: yield* seal(link, tokens)
      })
    })

  /** Asks the provider, which may accept each refresh token once: after the request begins, its answer must be stored. */
  const renew = (client: ExternalAuthClient, link: SealedExternalAuthLink, tokens: ExternalAuthTokenSet) =>
    client.refresh(tokens.refresh_token).pipe(
      Effect.retry({ schedule: patience, while: (error) => error._tag === "ExternalAuthFailure" && error.isTransient }),
      Effect.matchEffect({
        onSuccess: (given) => {
          const isKept = Redacted.value(given.refresh_token) === ""
          return replace(link, isKept ? { ...given, refresh_token: tokens.refresh_token } : given, "")
        },
        onFailure: (error) =>
          error._tag === "ExternalAuthRefused"
            ? replace(link, { ...tokens, refresh_token: Redacted.make("") }, `${error.code}: ${error.detail}`.slice(0, maximumReason))
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
          if (link === undefined || link.id !== id || !(yield* hasExpired(link)) || (yield* isResting(link))) return
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
  const validated = (client: ExternalAuthClient, link: SealedExternalAuthLink): Effect.Effect<ExternalAuthStanding> =>
    Effect.gen(function* () {
      const tokens = Option.getOrUndefined(yield* open(link))
      if (tokens === undefined) return refused("The stored token cannot be read.")
      return yield* Effect.match(client.validate(tokens.access_token), {
        onSuccess: ({ isValid, user }): ExternalAuthStanding =>
          isValid ? { authenticated: true, tokens, user } : refused("The provider does not accept the token any more."),
        onFailure: ({ detail, message }) => refused(detail === "" ? message : `${message} ${detail}`)
      })
    })

  /** Why a link whose token has expired was not renewed. */
  const expired = (client: ExternalAuthClient, link: SealedExternalAuthLink): Effect.Effect<ExternalAuthStanding> =>
    Effect.gen(function* () {
      if (client.provider.no_refresh) return refused("The token has expired.")
      if (link.refresh_failure !== "") return refused(`The provider does not renew the token: ${link.refresh_failure}`)
      return refused((yield* isResting(link)) ? unreachable : "The token has expired, and the provider gave none to renew it with.")
    })

  return {
    open,
    hasExpired,

    /** Stores new tokens in place of the user's present ones, and tells the agents that wait for them. */
    store: (userId: Uuid, providerId: string, tokens: ExternalAuthTokenSet): Effect.Effect<void> =>
      Effect.gen(function* () {
        const now = yield* Timestamp.now
        const link = { id: yield* ids.next, user_id: userId, provider_id: providerId }
        yield* repository.put({
          ...link,
          oauth_expiry: tokens.expires_at,
          refresh_failure: "",
          created_at: now,
          updated_at: now,
          tokens: yield* seal(link, tokens)
        })
        yield* Effect.provideService(publish(newLinksOf(userId), { provider_id: providerId }), EventBus, bus)
      }),

    /** Returns whether the link is valid as it is. An expired token is not renewed. */
    inspect: (client: ExternalAuthClient, link: SealedExternalAuthLink): Effect.Effect<ExternalAuthStanding> =>
      Effect.flatMap(hasExpired(link), (isExpired) => (isExpired ? expired(client, link) : validated(client, link))),

    /** Returns the link's standing, after an expired token was renewed. */
    current: Effect.fn("ExternalAuthTokens.current")(function* (userId: Uuid, client: ExternalAuthClient) {
      const found = Option.getOrUndefined(yield* repository.find(userId, client.provider.id))
      if (found === undefined) return refused("The user has no link to the provider.")
      if (!(yield* hasExpired(found))) return yield* validated(client, found)
      if (!client.provider.no_refresh) yield* renewOnce(client, found)
      const link = Option.getOrUndefined(yield* repository.find(userId, client.provider.id))
      if (link === undefined) return refused("The user has no link to the provider.")
      return (yield* hasExpired(link)) ? yield* expired(client, link) : yield* validated(client, link)
    })
  }
})

/** The tokens that external providers gave for users. Callers have authorized their actors. */
export class ExternalAuthTokens extends Context.Tag("@atelier/core/ExternalAuthTokens")<
  ExternalAuthTokens,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = Layer.effect(ExternalAuthTokens, make)
}
