import { Context, Effect, type Redacted } from "effect"
import type { CallInfo, CurrentActor } from "../../access/actors/Actor.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { ApiKeyRepository } from "../../identity/sessions/ApiKeyRepository.js"
import { AccountRepository } from "../../identity/users/AccountRepository.js"
import type { UserId } from "../../identity/users/User.js"
import { UserRepository } from "../../identity/users/UserRepository.js"
import { untilNotFull } from "../../platform/background/Batches.js"
import { Cryptography } from "../../platform/secrets/Cryptography.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { Worker } from "../../platform/background/Worker.js"
import { DeviceCodeRepository } from "../devices/DeviceCodeRepository.js"
import { GrantRepository } from "./GrantRepository.js"
import type { OAuth2App } from "../clients/OAuth2App.js"
import type { AuthenticatedClient } from "../clients/OAuth2Clients.js"
import type { OAuthError } from "../OAuthError.js"
import { service } from "../../platform/wiring/Standing.js"
import type { Auditing } from "../../audit/Audit.js"
import type { Forbidden } from "../../platform/Errors.js"
import { grantEnding } from "./GrantEnding.js"
import { grantRenewal } from "./GrantRenewal.js"
import { codeRedemption } from "./CodeRedemption.js"
import { deviceRedemption } from "./DeviceRedemption.js"
import { tokenRefresh } from "./TokenRefresh.js"
import { tokenIntrospection } from "./TokenIntrospection.js"
import { tokenRevocation } from "./TokenRevocation.js"

/** The parameters of an exchange of a code. */
export interface CodeExchange {
  readonly code: string
  readonly redirect_uri: string | undefined
  readonly code_verifier: string
  readonly resource: ReadonlyArray<string>
  /** The thumbprint of the key that the client has proven to have. */
  readonly dpopKey?: string | undefined
}

/** The parameters of a refresh. */
export interface RefreshRequest {
  readonly refresh_token: string
  readonly resource: ReadonlyArray<string>
  /** The scopes of the next access token; those of the grant if it is absent. */
  readonly scope?: string | undefined
  /** The thumbprint of the key that the client has proven to have. */
  readonly dpopKey?: string | undefined
}

/** New tokens. */
export interface IssuedTokens {
  readonly access_token: Redacted.Redacted<string>
  readonly refresh_token: Redacted.Redacted<string>
  readonly expires_at: Timestamp.Timestamp
  /** The scopes of the access token. */
  readonly scopes: ReadonlyArray<string>
  /** Whether the tokens are bound to a key of the client. */
  readonly isBound: boolean
}

/** A token that is good now, as its client may know it (RFC 7662 §2.2). */
export interface IntrospectedToken {
  readonly kind: "access" | "refresh"
  readonly scopes: ReadonlyArray<string>
  readonly user_id: UserId
  readonly username: string
  readonly issued_at: Timestamp.Timestamp
  readonly expires_at: Timestamp.Timestamp
  /** The resources that it is bound to; none for the whole deployment. */
  readonly resource: ReadonlyArray<string>
  /** The thumbprint of the key that it is bound to. */
  readonly dpop_jkt: string | null
}

/** Rows of one statement of the purge. */
const purgeBatch = 1000

/** The methods of {@link OAuth2Tokens}. */
export interface OAuth2TokensService {
  /**
   * Tells a client about one of its own tokens (RFC 7662). Returns undefined for a token that is unknown, of another client or not good, without
   * saying which. It is no use of the token. Fails with `invalid_client` for a client that cannot prove who it is.
   */
  readonly introspect: (
    client: AuthenticatedClient,
    token: string
  ) => Effect.Effect<IntrospectedToken | undefined, OAuthError, Cryptography>

  /**
   * Redeems an authorization code. The order of the refusals is that of oauth2-provider.md §7 no. 4. A code that comes again ends what was
   * issued with it.
   */
  readonly redeem: (
    client: AuthenticatedClient,
    request: CodeExchange,
    info: CallInfo
  ) => Effect.Effect<IssuedTokens, OAuthError, Cryptography | Auditing>

  /**
   * Answers a device that asks whether its user has answered (RFC 8628 §3.4). One of several requests at once gets the tokens, and the code is used up by
   * them.
   */
  readonly redeemDevice: (
    client: AuthenticatedClient,
    input: { readonly device_code: string; readonly dpopKey?: string | undefined },
    info: CallInfo
  ) => Effect.Effect<IssuedTokens, OAuthError, Cryptography | Auditing>

  /** Replaces a grant's tokens by new ones. The ones before end. A refresh token that comes again later ends the grant. */
  readonly refresh: (
    client: AuthenticatedClient,
    request: RefreshRequest,
    info: CallInfo
  ) => Effect.Effect<IssuedTokens, OAuthError, Cryptography | Auditing>

  /**
   * Ends the grant of an access or refresh token (RFC 7009). Does nothing for a token that is unknown or belongs to another app. A client may
   * leave its secret out: the token itself is the proof.
   */
  readonly revoke: (client: AuthenticatedClient, token: string, info: CallInfo) => Effect.Effect<void, never, Cryptography | Auditing>

  /** Ends everything that the actor gave an app. Fails with `Forbidden` for a credential that may not delete tokens of its user. */
  readonly disconnect: (app: OAuth2App) => Effect.Effect<void, Forbidden, CurrentActor | Auditing>

  /** Deletes codes and tokens that can never be used again. */
  readonly purge: Worker<never>
}

const make = Effect.gen(function* () {
  const repository = yield* GrantRepository
  const keys = yield* ApiKeyRepository
  const accounts = yield* AccountRepository
  const users = yield* UserRepository
  const devices = yield* DeviceCodeRepository
  const cryptography = yield* Cryptography
  const { apiKeysRetention, brand, defaultOauthRefreshLifetime, narrowOauth2Scopes, sessionDuration } = yield* DeploymentOptions

  const { end } = grantEnding({ keys, repository })

  const { judged, newTokens, renew } = grantRenewal({ defaultOauthRefreshLifetime, sessionDuration, accounts, repository, brand, keys })

  return {
    ...tokenIntrospection({ brand, repository, cryptography, keys, users }),

    ...codeRedemption({ brand, repository, newTokens, judged, end, renew }),

    ...deviceRedemption({ devices, brand, newTokens, accounts, repository, renew }),

    ...tokenRefresh({ narrowOauth2Scopes, brand, repository, newTokens, judged, end, renew }),

    ...tokenRevocation({ brand, repository, cryptography, accounts, end }),

    purge: {
      name: "purge-oauth2-grants",
      every: "10 minutes",
      run: Effect.gen(function* () {
        const now = yield* Timestamp.now
        const codesBefore = Timestamp.minus(now, "1 day")
        const keysBefore = Timestamp.minus(now, apiKeysRetention)
        yield* untilNotFull(purgeBatch, (limit) => repository.deleteEnded(codesBefore, limit))
        yield* untilNotFull(purgeBatch, (limit) => repository.deleteLapsed({ keysBefore, now }, limit))
        yield* untilNotFull(purgeBatch, (limit) => repository.deleteRefreshTokens(now, limit))
      })
    } satisfies Worker<never>
  }
})

/** The tokens of apps: issued, renewed and ended. oauth2-provider.md §7 to §9. */
export class OAuth2Tokens extends Context.Tag("@atelier/core/OAuth2Tokens")<OAuth2Tokens, OAuth2TokensService>() {
  static readonly layer = service(OAuth2Tokens, make)
}
