import { Clock, Context, Effect, Option, Redacted, Schedule } from "effect"
import { Encryption, type Sealed } from "../../platform/secrets/Encryption.js"
import { Unauthenticated } from "../../platform/Errors.js"
import { makeKeyedLock } from "../../platform/collections/KeyedLock.js"
import { Locks } from "../../platform/store/Locks.js"
import * as Lru from "../../platform/collections/Lru.js"
import * as Monotonic from "../../platform/time/Monotonic.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { LoginProviders, providerOf } from "./LoginProvider.js"
import type { UserId } from "../users/User.js"
import type { ExternalLoginType, ProviderTokens, UserLink } from "./UserLink.js"
import { type SealedLink, UserLinkRepository } from "./UserLinkRepository.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { service } from "../../platform/wiring/Standing.js"
import { linkTokenSealing } from "./LinkTokenSealing.js"
import { linkTokenReplacement } from "./LinkTokenReplacement.js"

/** Milliseconds in which a provider that could not be asked is not asked again for the same link. */
const restAfterFailure = 10_000

/** The number of links whose failure is remembered. */
const rememberedFailures = 1000

/** Milliseconds before its end at which a token is renewed, so that it does not end while it is used. */
const leeway = 60_000

/** Milliseconds. A token for a build is to last as long as most builds do. templates-and-provisioning.md §8.4. */
const aheadOfBuilds = 600_000

/** How often, and for how long, one waits for another process that asks the provider. */
const waiting = Schedule.intersect(Schedule.spaced("100 millis"), Schedule.recurs(150))

const ended = (detail: string): Unauthenticated =>
  new Unauthenticated({ message: "Your login at the provider has ended. Please sign in again to continue.", detail })

/** The methods of {@link LinkTokens}. */
export interface LinkTokensService {
  /** Tokens as the link's row stores them. */
  readonly seal: (link: Pick<UserLink, "id" | "user_id">, tokens: ProviderTokens) => Effect.Effect<Sealed>

  /**
   * Whether the user is still logged in at the provider, which is asked a minute before the tokens it gave expire. Until they do, its
   * refusal changes nothing. Fails with
   * `Unauthenticated` where the link is gone or the provider does not renew them. identity.md §2.4.
   */
  readonly requireCurrent: (userId: UserId, type: ExternalLoginType) => Effect.Effect<undefined, Unauthenticated>

  /**
   * The user's access token at the provider, which is asked for another one ten minutes before it ends. None without a link, and where the
   * token has ended and is not renewed. Callers have authorized their actors.
   */
  readonly accessToken: (userId: UserId, type: ExternalLoginType) => Effect.Effect<Option.Option<Redacted.Redacted<string>>>
}

const make = Effect.gen(function* () {
  const repository = yield* UserLinkRepository
  const encryption = yield* Encryption
  const locks = yield* Locks
  const providers = yield* LoginProviders
  const oneAtATime = makeKeyedLock<Uuid>()
  const failures = Lru.make<Uuid, { readonly until: number }>(rememberedFailures)

  /** Whether the access token has ended, or will have in `ahead` milliseconds. */
  const hasEnded = ({ oauth_expiry }: Pick<UserLink, "oauth_expiry">, ahead = 0): Effect.Effect<boolean> =>
    oauth_expiry === null
      ? Effect.succeed(false)
      : Effect.map(Clock.currentTimeMillis, (now) => Timestamp.toMillis(oauth_expiry) < now + ahead)

  const { seal, stored } = linkTokenSealing({ repository, encryption })

  const { replace } = linkTokenReplacement({ seal, repository, stored })

  /** Asks the provider, which accepts each refresh token once: after the request begins, its answer must be stored. */
  const renew = (link: SealedLink): Effect.Effect<void, Unauthenticated> =>
    Effect.gen(function* () {
      const provider = providerOf(providers, link.login_type)
      if (provider === undefined) return yield* ended("The deployment no longer offers this way to log in.")
      const present = yield* stored(link)
      if (Option.isNone(present) || present.value.refresh_token === "") return yield* ended("The provider gave no token to renew it with.")
      const { access_token, refresh_token } = present.value
      const given = yield* provider.refresh(Redacted.make(refresh_token)).pipe(
        // The provider refused the token for good, so it is not sent again
        Effect.tapErrorTag("RefreshRefused", () =>
          replace(link, present.value, {
            access_token: Redacted.make(access_token),
            refresh_token: Redacted.make(""),
            expires_at: link.oauth_expiry
          })
        ),
        Effect.tapErrorTag("ProviderFailure", ({ detail, message }) =>
          Effect.zipRight(
            Effect.map(Monotonic.now, (now) => failures.set(link.id, { until: now + restAfterFailure })),
            Effect.logWarning("a login at a provider could not be renewed", { link: link.id, message, detail })
          )
        ),
        Effect.mapError((error) =>
          ended(error._tag === "RefreshRefused" ? "The provider did not renew it." : "The provider could not be asked to renew it.")
        )
      )
      const isEmpty = Redacted.value(given.refresh_token) === ""
      yield* replace(link, present.value, isEmpty ? { ...given, refresh_token: Redacted.make(refresh_token) } : given)
    }).pipe(Effect.uninterruptible)

  const current = (userId: UserId, type: ExternalLoginType): Effect.Effect<SealedLink, Unauthenticated> =>
    Effect.flatMap(
      repository.sealedOf(userId, type),
      Option.match({ onNone: () => ended("The account is not linked to the provider any more."), onSome: Effect.succeed })
    )

  /** Of any number of callers, in any number of processes, one asks the provider, and the others find what it stored. */
  const renewOnce = (userId: UserId, type: ExternalLoginType, linkId: Uuid, ahead = 0): Effect.Effect<void, Unauthenticated> =>
    Effect.gen(function* () {
      const isRenewed = yield* locks.tryWith(
        `user-link/${linkId}`,
        Effect.gen(function* () {
          const link = yield* current(userId, type)
          if (!(yield* hasEnded(link, ahead))) return
          const failure = failures.get(link.id)
          if (failure !== undefined && failure.until > (yield* Monotonic.now)) {
            return yield* ended("The provider could not be asked to renew it.")
          }
          yield* renew(link)
        })
      )
      return Option.isSome(isRenewed)
    }).pipe(
      Effect.filterOrFail(
        (isRenewed) => isRenewed,
        () => "held elsewhere" as const
      ),
      Effect.retry({ schedule: waiting, while: (error) => error === "held elsewhere" }),
      Effect.mapError((error) => (error === "held elsewhere" ? ended("The provider could not be asked to renew it.") : error)),
      Effect.asVoid,
      oneAtATime(linkId),
      // A caller that is interrupted stops waiting; a request to the provider that has begun still completes
      Effect.interruptible
    )

  return {
    seal: (link: Pick<UserLink, "id" | "user_id">, tokens: ProviderTokens): Effect.Effect<Sealed> => seal(link, tokens),

    requireCurrent: Traced.fn("LinkTokens.requireCurrent")(function* (userId: UserId, type: ExternalLoginType) {
      const link = yield* repository.ofUser(userId, type)
      if (Option.isNone(link)) return yield* ended("The account is not linked to the provider any more.")
      if (yield* hasEnded(link.value)) yield* renewOnce(userId, type, link.value.id)
      else if (yield* hasEnded(link.value, leeway)) yield* Effect.ignore(renewOnce(userId, type, link.value.id, leeway))
    }),

    accessToken: Traced.fn("LinkTokens.accessToken")(function* (userId: UserId, type: ExternalLoginType) {
      const link = Option.getOrUndefined(yield* repository.ofUser(userId, type))
      if (link === undefined) return Option.none<Redacted.Redacted<string>>()
      if (yield* hasEnded(link, aheadOfBuilds)) yield* Effect.ignore(renewOnce(userId, type, link.id, aheadOfBuilds))
      const sealed = Option.getOrUndefined(yield* repository.sealedOf(userId, type))
      if (sealed === undefined || (yield* hasEnded(sealed))) return Option.none<Redacted.Redacted<string>>()
      return Option.filterMap(yield* stored(sealed), ({ access_token }) =>
        access_token === "" ? Option.none() : Option.some(Redacted.make(access_token))
      )
    })
  }
})

/** The tokens that login providers gave the service for its users. The service reads them, and builds are given the access token. */
export class LinkTokens extends Context.Tag("@atelier/core/LinkTokens")<LinkTokens, LinkTokensService>() {
  static readonly layer = service(LinkTokens, make)
}
