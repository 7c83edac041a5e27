import { Context, Effect, Option, Schema } from "effect"
import { constantTimeEquals } from "../platform/secrets/Cryptography.js"
import { Encryption, type Sealed } from "../platform/secrets/Encryption.js"
import { type Channel, channelsOf, EventBus } from "../platform/events/EventBus.js"
import { Ids } from "../platform/Ids.js"
import { makeKeyedLock } from "../platform/collections/KeyedLock.js"
import { Locks } from "../platform/store/Locks.js"
import * as Lru from "../platform/collections/Lru.js"
import * as Monotonic from "../platform/time/Monotonic.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { whileUnavailable } from "../platform/store/StoreUnavailable.js"
import { publish } from "../platform/store/Transactor.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import { type ExternalAuthClient, ExternalAuthFailure, type ExternalAuthUser } from "./ExternalAuthClient.js"
import type { ExternalAuthTokenSet, SealedExternalAuthLink } from "./ExternalAuthLink.js"
import { ExternalAuthRepository } from "./ExternalAuthRepository.js"
import * as Traced from "../platform/wiring/Traced.js"
import { service } from "../platform/wiring/Standing.js"
import { rememberedLinks, hasExpired, leeway, storing, forget, restAfterFailure, externalTokenRenewal } from "./ExternalTokenRenewal.js"
import { externalTokenSealing } from "./ExternalTokenSealing.js"

/** Tells agents that wait for a token that a user has a new link. */
const linked = channelsOf("external-auth", Schema.Struct({ provider_id: Schema.String }))

/** The links that a user makes. */
export const newLinksOf = (userId: Uuid): Channel<{ readonly provider_id: string }> => linked(userId)

/** A link as it stands after its tokens were renewed, if they had to be, and validated. */
export type ExternalAuthStanding =
  | { readonly authenticated: true; readonly tokens: ExternalAuthTokenSet; readonly user: ExternalAuthUser | null }
  | { readonly authenticated: false; readonly reason: string }

/** The last validation of a link's token for agents that wait. */
interface Validation {
  readonly tokens: Sealed
  readonly isValid: boolean
  /** Milliseconds since 1970. */
  readonly at: number
}

const unreachable = new ExternalAuthFailure({
  message: "The provider could not be asked to renew the token.",
  detail: "",
  isTransient: true
})

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
  const validatedOneAtATime = makeKeyedLock<Uuid>()
  const validations = Lru.make<Uuid, Validation>(rememberedLinks)

  const refused = (reason: string): ExternalAuthStanding => ({ authenticated: false, reason })

  const { seal, open } = externalTokenSealing({ repository, encryption })

  /** Validates the token of a link, which has not expired. */
  const validated = (client: ExternalAuthClient, link: SealedExternalAuthLink): Effect.Effect<ExternalAuthStanding, ExternalAuthFailure> =>
    Effect.gen(function* () {
      const tokens = Option.getOrUndefined(yield* open(link))
      if (tokens === undefined) return refused("The stored token cannot be read.")
      const { isValid, user } = yield* client.validate(tokens.access_token)
      return isValid ? { authenticated: true, tokens, user } : refused("The provider does not accept the token any more.")
    })

  const { failures, isResting, renewOnce } = externalTokenRenewal({ seal, repository, open, locks })

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
        const now = yield* Monotonic.now
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
