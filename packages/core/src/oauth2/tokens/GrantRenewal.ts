import { Duration, Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import { type CallInfo, CurrentActor } from "../../access/actors/Actor.js"
import { unrestrictedAllowList } from "../../access/scopes/AllowList.js"
import { SystemActor } from "../../access/actors/SystemActor.js"
import type { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { type ApiKey, newApiKey, newCredential } from "../../identity/sessions/ApiKey.js"
import type { ApiKeyRepository } from "../../identity/sessions/ApiKeyRepository.js"
import type { AccountRepository } from "../../identity/users/AccountRepository.js"
import type { User } from "../../identity/users/User.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { transaction } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { afterEvent, type Grant } from "./Grant.js"
import type { GrantRepository } from "./GrantRepository.js"
import { invalidGrant, type OAuthError } from "../OAuthError.js"
import { newSecret } from "./OAuthSecret.js"
import type { Outcome } from "./GrantChecks.js"
import { tokenName, record } from "./GrantEnding.js"

/** Keys of a user beyond which none is made. identity.md §4. */
const maximumKeys = 10_000

interface Needs extends Pick<DeploymentOptions["Type"], "defaultOauthRefreshLifetime" | "sessionDuration" | "brand"> {
  readonly accounts: AccountRepository["Type"]
  readonly repository: GrantRepository["Type"]
  readonly keys: ApiKeyRepository["Type"]
}

/** What gives a grant its next tokens, once it is judged under the lock of its user. */
export const grantRenewal = ({ defaultOauthRefreshLifetime, sessionDuration, accounts, repository, brand, keys }: Needs) => {
  const refreshLifetime = Duration.equals(defaultOauthRefreshLifetime, Duration.zero) ? sessionDuration : defaultOauthRefreshLifetime

  /** Judges a grant as it is now, with its user locked: concurrent requests for the same user wait for each other. */
  const judged = <R>(
    id: Uuid,
    userId: Uuid,
    info: CallInfo,
    missing: OAuthError,
    judge: (grant: Grant, user: User | undefined) => Effect.Effect<Outcome, never, R>
  ) =>
    Effect.gen(function* () {
      const outcome = yield* transaction(
        Effect.gen(function* () {
          const [user] = yield* accounts.lock([userId])
          const grant = yield* repository.byId(id)
          return Option.isNone(grant) ? { refused: missing } : yield* judge(grant.value, user)
        })
      )
      return "tokens" in outcome ? outcome.tokens : yield* outcome.refused
    }).pipe(Access.actingAs({ ...SystemActor.systemOauth, ...info, userId }))

  /** A pair of tokens that is made before the transaction, which may run several times. */
  const newTokens = Effect.all({ access: newCredential, refresh: newSecret(brand) })

  /** Gives a grant its next tokens. */
  const renew = (
    grant: Grant,
    event: "redeem" | "rotate",
    { access, refresh }: Effect.Effect.Success<typeof newTokens>,
    next: {
      readonly scopes: ReadonlyArray<string>
      readonly secretId: Uuid | null
      readonly dpopKey: string | undefined
      readonly replaces: string | undefined
      readonly refused: OAuthError
    }
  ) =>
    Effect.gen(function* () {
      const { ip = "" } = yield* CurrentActor
      if (afterEvent(grant.status, event) !== "active") return { refused: next.refused }
      const before = grant.api_key_id === null ? Option.none<ApiKey>() : yield* keys.byId(grant.api_key_id)
      if (event === "rotate" && Option.isNone(before)) return { refused: next.refused }
      if ((yield* keys.count(grant.user_id, maximumKeys)) >= maximumKeys)
        return { refused: invalidGrant(`The user has ${maximumKeys} sessions and tokens, which is the maximum.`) }
      const now = yield* Timestamp.now
      const key = newApiKey(
        {
          id: access.id,
          user_id: grant.user_id,
          login_type: "oauth2_provider_app",
          ip,
          token_name: tokenName(grant),
          scopes: next.scopes,
          allow_list: unrestrictedAllowList,
          lifetime: sessionDuration
        },
        now
      )
      yield* Effect.orDie(keys.insert(key, access.hashedSecret))
      const renewed = yield* repository.renew(
        grant,
        {
          apiKeyId: key.id,
          secretId: next.secretId,
          dpopKey: next.dpopKey,
          refreshToken: { prefix: refresh.prefix, hashedSecret: refresh.hashedSecret, expires_at: Timestamp.plus(now, refreshLifetime) },
          replaces: next.replaces
        },
        now
      )
      if (!renewed) {
        // The app or its secret was deleted at the same time
        yield* keys.delete(key.id)
        return { refused: next.refused }
      }
      yield* accounts.recordSeen(grant.user_id, now)
      yield* record(event === "redeem" ? "create" : "write", grant, event, Option.getOrUndefined(before), key)
      return {
        tokens: {
          access_token: access.key,
          refresh_token: refresh.text,
          expires_at: key.expires_at,
          scopes: next.scopes,
          isBound: next.dpopKey !== undefined
        }
      }
    })

  return { judged, newTokens, renew }
}

/** The result of {@link grantRenewal}. */
export type GrantRenewal = ReturnType<typeof grantRenewal>
