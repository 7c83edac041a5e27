import { Context, Duration, Effect, Encoding, Option, Redacted } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { type CallInfo, CurrentActor } from "../../access/actors/Actor.js"
import { unrestrictedAllowList } from "../../access/scopes/AllowList.js"
import { expandAppScopes } from "../../access/scopes/AppScope.js"
import { allScope, canonicalScope, isExternalScope } from "../../access/scopes/Scope.js"
import { SystemActor } from "../../access/actors/SystemActor.js"
import * as Audit from "../../audit/Audit.js"
import { diff } from "../../audit/AuditedFields.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { type ApiKey, newApiKey, newCredential, parseCredential } from "../../identity/sessions/ApiKey.js"
import { ApiKeyRepository } from "../../identity/sessions/ApiKeyRepository.js"
import { excess } from "../../identity/sessions/Delegation.js"
import { AccountRepository } from "../../identity/users/AccountRepository.js"
import type { User, UserId } from "../../identity/users/User.js"
import { UserRepository } from "../../identity/users/UserRepository.js"
import { untilNotFull } from "../../platform/background/Batches.js"
import { Ids } from "../../platform/Ids.js"
import { constantTimeEquals, Cryptography, hashSecret } from "../../platform/secrets/Cryptography.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { transaction } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { Worker } from "../../platform/background/Worker.js"
import { isResourceIndicator, isSameAudience, normalizedResource } from "../../identity/sessions/Audience.js"
import { type DeviceCode, type PollRefusal, pollInterval, pollRefusal } from "../devices/DeviceCode.js"
import { DeviceCodeRepository } from "../devices/DeviceCodeRepository.js"
import { afterEvent, type Grant, type GrantEvent, maximumGrants } from "./Grant.js"
import { GrantRepository, type Hashed } from "./GrantRepository.js"
import type { OAuth2App } from "../clients/OAuth2App.js"
import { type AuthenticatedClient, requireAuthenticated } from "../clients/OAuth2Clients.js"
import { invalidClient, invalidGrant, invalidRequest, invalidTarget, OAuthError } from "../OAuthError.js"
import { hashText, newSecret, presentedSecret } from "./OAuthSecret.js"
import { matchesRedirectUri } from "../clients/RedirectUri.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { service } from "../../platform/wiring/Standing.js"
import type { Auditing } from "../../audit/Audit.js"
import type { Forbidden } from "../../platform/Errors.js"

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

/**
 * How long a refresh token that was replaced may come again without a consequence: two windows of one editor have the same one, and may
 * refresh in the same instant. oauth2-provider.md P-16.
 */
const reuseGrace = Duration.seconds(60)

/** Keys of a user beyond which none is made. identity.md §4. */
const maximumKeys = 10_000

/** Rows of one statement of the purge. */
const purgeBatch = 1000

const verifierForm = /^[A-Za-z0-9._~-]{43,128}$/

const encoder = new TextEncoder()
const isSame = (left: string, right: string): boolean => constantTimeEquals(encoder.encode(left), encoder.encode(right))

const badCode = invalidGrant("The authorization code is invalid, has expired or has been used.")
const badRefreshToken = invalidGrant("The refresh token is invalid, has expired or has been used.")

const otherKey = invalidGrant("The grant is bound to a key, which the client has to prove that it has.")
const badDeviceCode = invalidGrant("The device code is invalid or has been used.")

const pollTexts: Readonly<Record<PollRefusal, string>> = {
  authorization_pending: "The user has not answered yet.",
  slow_down: "The device asks too often.",
  access_denied: "The user has denied the request.",
  expired_token: "The device code has expired."
}

/** The decision on a request that found its grant: an attack ends the grant, and the client is refused all the same. */
type Outcome = { readonly tokens: IssuedTokens } | { readonly refused: OAuthError }

/** The methods of {@link OAuth2Tokens}. */
export interface OAuth2TokensService {
  /**
   * Tells a client about one of its own tokens (RFC 7662). Returns undefined for a token that is unknown, of another client or not good, without
   * saying which. It is no use of the token. Fails with `invalid_client` for a client that cannot prove who it is.
   */
  readonly introspect: (
    client: AuthenticatedClient,
    token: string
  ) => Effect.Effect<
    | {
        readonly user_id: Uuid
        readonly username: string
        readonly resource: ReadonlyArray<string>
        readonly dpop_jkt: string | null
        readonly kind: "refresh"
        readonly scopes: ReadonlyArray<string>
        readonly issued_at: Timestamp.Timestamp
        readonly expires_at: Timestamp.Timestamp
      }
    | {
        readonly user_id: Uuid
        readonly username: string
        readonly resource: ReadonlyArray<string>
        readonly dpop_jkt: string | null
        readonly kind: "access"
        readonly scopes: ReadonlyArray<string>
        readonly issued_at: Timestamp.Timestamp
        readonly expires_at: Timestamp.Timestamp
      }
    | undefined,
    OAuthError,
    Cryptography
  >

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
  readonly purge: { readonly name: string; readonly every: "10 minutes"; readonly run: Effect.Effect<void> }
}

const make = Effect.gen(function* () {
  const repository = yield* GrantRepository
  const keys = yield* ApiKeyRepository
  const accounts = yield* AccountRepository
  const users = yield* UserRepository
  const devices = yield* DeviceCodeRepository
  const cryptography = yield* Cryptography
  const { apiKeysRetention, brand, defaultOauthRefreshLifetime, narrowOauth2Scopes, sessionDuration } = yield* DeploymentOptions
  const refreshLifetime = Duration.equals(defaultOauthRefreshLifetime, Duration.zero) ? sessionDuration : defaultOauthRefreshLifetime

  const subject = (action: "create" | "write" | "delete", grant: Pick<Grant, "app_id" | "user_id">): Audit.Subject => ({
    action,
    type: "api_key",
    // Entries about keys are about their users
    id: grant.user_id,
    target: tokenName(grant)
  })

  const tokenName = ({ app_id, user_id }: Pick<Grant, "app_id" | "user_id">): string => `${user_id}_${app_id}_oauth_session_token`

  const record = (
    action: "create" | "write" | "delete",
    grant: Grant,
    event: string,
    before: object | undefined,
    after: object | undefined
  ) =>
    Effect.flatMap(Audit.AuditStatus, ({ success }) =>
      Audit.record({
        ...subject(action, grant),
        additional_fields: { event },
        status_code: success,
        diff: diff("api_key", before, after)
      })
    )

  /** Applies what ends a grant; does nothing to a grant that cannot end so. */
  const end = (grant: Grant, event: Exclude<GrantEvent, "redeem" | "rotate">) =>
    Effect.gen(function* () {
      const status = afterEvent(grant.status, event)
      if (status !== "revoked" && status !== "expired") return
      const key = grant.api_key_id === null ? Option.none<ApiKey>() : yield* keys.byId(grant.api_key_id)
      if (yield* repository.end(grant, status, yield* Timestamp.now))
        yield* record("delete", grant, event, Option.getOrUndefined(key), undefined)
    })

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

  const isRight = ({ hashed_secret }: Hashed<unknown>, hashedSecret: Uint8Array): boolean => constantTimeEquals(hashed_secret, hashedSecret)

  const requireIndicators = (resource: ReadonlyArray<string>) =>
    resource.every(isResourceIndicator)
      ? Effect.succeed(resource.map(normalizedResource))
      : invalidRequest("resource: must be an absolute URI without a fragment")

  /** The scopes of the next access token; undefined if the client asks for more than the user has granted (RFC 6749 §6). */
  const renewedScopes = ({ scopes }: Grant, asked: string | undefined): ReadonlyArray<string> | undefined => {
    const names = [...new Set((asked ?? "").split(/\s+/).filter((name) => name !== ""))]
    if (names.length === 0) return scopes
    if (!names.every(isExternalScope)) return undefined
    const wanted = names.map(canonicalScope)
    const held = { scope: expandAppScopes(scopes), allowList: unrestrictedAllowList }
    const beyond = excess(
      held,
      wanted.filter((name) => !scopes.includes(name)),
      []
    )
    if (beyond.length > 0) return undefined
    return !narrowOauth2Scopes && scopes.includes(allScope) ? [...new Set([allScope, ...wanted])] : wanted
  }

  /** The grant that a token is of; undefined for a text that is no token. */
  const grantOf = (token: string) =>
    Effect.gen(function* () {
      const presented = yield* presentedSecret(brand, token)
      if (presented !== undefined) {
        const found = yield* repository.refreshToken(presented.prefix)
        return Option.isSome(found) && isRight(found.value, presented.hashedSecret) ? found.value.value.grant_id : undefined
      }
      const credential = parseCredential(token)
      if (credential === undefined) return undefined
      const hashedSecret = yield* hashSecret(cryptography, credential.secret)
      const found = yield* repository.byAccessToken(credential.id)
      return Option.isSome(found) && isRight(found.value, hashedSecret) ? found.value.value.id : undefined
    })

  /** Notes a poll that gets no tokens. One that comes too early makes the next one wait for longer. */
  const refusedPoll = (device: DeviceCode, refusal: PollRefusal, now: Timestamp.Timestamp) =>
    Effect.as(devices.recordPoll(device.id, now, device.interval_seconds + (refusal === "slow_down" ? pollInterval : 0)), {
      refused: new OAuthError({ error: refusal, message: pollTexts[refusal] })
    })

  /** The permission that a device's user has given. */
  const grantOfDevice = (device: DeviceCode, id: Uuid, user_id: UserId, now: Timestamp.Timestamp): Grant => ({
    id,
    app_id: device.app_id,
    user_id,
    status: "issued",
    created_at: now,
    updated_at: now,
    // No code of it is ever shown
    code_expires_at: now,
    redirect_uri: null,
    hashed_state: null,
    code_challenge: "",
    resource: device.resource,
    scopes: device.scopes,
    secret_id: null,
    api_key_id: null,
    refresh_expires_at: null,
    dpop_jkt: null
  })

  /** What a text is as a token, with its grant; undefined for a text that is no token, or no good one. */
  const goodToken = (token: string) =>
    Effect.gen(function* () {
      const now = yield* Timestamp.now
      const refresh = yield* presentedSecret(brand, token)
      if (refresh !== undefined) {
        const found = Option.getOrUndefined(yield* repository.refreshToken(refresh.prefix))
        if (found === undefined || !isRight(found, refresh.hashedSecret)) return undefined
        const { expires_at, grant_id, rotated_at } = found.value
        if (rotated_at !== null || expires_at < now) return undefined
        const grant = Option.getOrUndefined(yield* repository.byId(grant_id))
        return grant && ({ kind: "refresh", grant, scopes: grant.scopes, issued_at: grant.updated_at, expires_at } as const)
      }
      const credential = parseCredential(token)
      if (credential === undefined) return undefined
      const found = Option.getOrUndefined(yield* repository.byAccessToken(credential.id))
      if (found === undefined || !isRight(found, yield* hashSecret(cryptography, credential.secret))) return undefined
      const key = Option.getOrUndefined(yield* keys.byId(credential.id))
      if (key === undefined || key.expires_at < now) return undefined
      return { kind: "access", grant: found.value, scopes: key.scopes, issued_at: key.created_at, expires_at: key.expires_at } as const
    })

  return {
    introspect: Traced.fn("OAuth2Tokens.introspect")(function* (client: AuthenticatedClient, token: string) {
      yield* requireAuthenticated(client)
      if (client.app.client_type === "public") return yield* invalidClient
      const found = yield* goodToken(token)
      if (found === undefined || found.grant.app_id !== client.app.id || found.grant.status !== "active") return undefined
      const { grant, ...rest } = found
      const user = Option.getOrUndefined(yield* users.byId(grant.user_id))
      if (user === undefined || user.deleted || user.status !== "active") return undefined
      return {
        ...rest,
        user_id: user.id,
        username: user.username,
        resource: grant.resource,
        dpop_jkt: grant.dpop_jkt
      } satisfies IntrospectedToken
    }),

    redeem: Traced.fn("OAuth2Tokens.redeem")(function* (client: AuthenticatedClient, request: CodeExchange, info: CallInfo) {
      yield* requireAuthenticated(client)
      const { app, secretId } = client
      if (!verifierForm.test(request.code_verifier))
        return yield* invalidRequest("code_verifier: must have 43 to 128 characters of A-Z, a-z, 0-9, -, ., _ and ~")
      if (request.redirect_uri !== undefined && !app.redirect_uris.some((uri) => matchesRedirectUri(uri, request.redirect_uri ?? "")))
        return yield* invalidRequest("redirect_uri: is not one of the client's")
      const resource = yield* requireIndicators(request.resource)
      const challenge = Encoding.encodeBase64Url(yield* hashText(request.code_verifier))

      const presented = yield* presentedSecret(brand, request.code)
      if (presented === undefined) return yield* badCode
      const found = yield* repository.byCode(presented.prefix)
      if (Option.isNone(found) || !isRight(found.value, presented.hashedSecret) || found.value.value.app_id !== app.id)
        return yield* badCode
      const { id, user_id } = found.value.value
      const tokens = yield* newTokens

      return yield* judged(id, user_id, info, badCode, (grant, user) =>
        Effect.gen(function* (): Effect.fn.Return<Outcome, never, Effect.Effect.Context<ReturnType<typeof end>> | CurrentActor> {
          const refused = (error: OAuthError): Outcome => ({ refused: error })
          if (grant.status !== "issued") return yield* Effect.as(end(grant, "replay"), refused(badCode))
          const now = yield* Timestamp.now
          if (grant.code_expires_at < now) return yield* Effect.as(end(grant, "expire"), refused(badCode))
          if (user === undefined || user.status !== "active") return refused(invalidGrant("The user is not active."))
          if (grant.redirect_uri !== null && grant.redirect_uri !== request.redirect_uri)
            return refused(invalidGrant("redirect_uri: is not that of the authorization request"))
          if (!isSame(grant.code_challenge, challenge))
            return yield* Effect.as(end(grant, "mismatch"), refused(invalidGrant("code_verifier: does not belong to the code")))
          if (!isSameAudience(grant.resource, resource))
            return refused(invalidTarget("The resource is not that of the authorization request."))
          if (grant.dpop_jkt !== null && grant.dpop_jkt !== request.dpopKey) return refused(otherKey)
          return yield* renew(grant, "redeem", tokens, {
            scopes: grant.scopes,
            secretId,
            dpopKey: request.dpopKey,
            replaces: undefined,
            refused: badCode
          })
        })
      )
    }),

    redeemDevice: Traced.fn("OAuth2Tokens.redeemDevice")(function* (
      client: AuthenticatedClient,
      { device_code: deviceCode, dpopKey }: { readonly device_code: string; readonly dpopKey?: string | undefined },
      info: CallInfo
    ) {
      yield* requireAuthenticated(client)
      const presented = yield* presentedSecret(brand, deviceCode)
      const found = presented === undefined ? undefined : Option.getOrUndefined(yield* devices.byPrefix(presented.prefix))
      if (presented === undefined || found === undefined || !isRight(found, presented.hashedSecret)) return yield* badDeviceCode
      if (found.value.app_id !== client.app.id) return yield* badDeviceCode
      const { id, status, user_id } = found.value
      const tokens = yield* newTokens
      const code = yield* newSecret(brand)
      const grantId = yield* (yield* Ids).next

      const poll = Effect.gen(function* () {
        // Users are locked before what belongs to them
        const [user] = status === "approved" && user_id !== null ? yield* accounts.lock([user_id]) : []
        const device = Option.getOrUndefined(yield* devices.lock(id))
        if (device === undefined) return { refused: badDeviceCode }
        const now = yield* Timestamp.now
        const refusal = pollRefusal(device, now)
        if (refusal !== undefined || device.status !== status) return yield* refusedPoll(device, refusal ?? "authorization_pending", now)
        if (user === undefined || user.status !== "active") return { refused: invalidGrant("The user is not active.") }
        yield* devices.delete(id)
        const grant = grantOfDevice(device, grantId, user.id, now)
        yield* repository.insert(grant, code, device.consent_key_id ?? undefined)
        yield* repository.deleteBeyond(client.app.id, user.id, maximumGrants)
        const next = { scopes: grant.scopes, secretId: client.secretId, dpopKey, replaces: undefined, refused: badDeviceCode }
        return yield* renew(grant, "redeem", tokens, next)
      })
      const outcome: Outcome = yield* transaction(poll).pipe(
        Access.actingAs({ ...SystemActor.systemOauth, ...info, ...(user_id === null ? {} : { userId: user_id }) })
      )
      return "tokens" in outcome ? outcome.tokens : yield* outcome.refused
    }),

    refresh: Traced.fn("OAuth2Tokens.refresh")(function* (
      client: AuthenticatedClient,
      { dpopKey, refresh_token, resource: asked, scope }: RefreshRequest,
      info: CallInfo
    ) {
      yield* requireAuthenticated(client)
      const resource = yield* requireIndicators(asked)
      const presented = yield* presentedSecret(brand, refresh_token)
      if (presented === undefined) return yield* badRefreshToken
      const found = yield* repository.refreshToken(presented.prefix)
      if (Option.isNone(found) || !isRight(found.value, presented.hashedSecret)) return yield* badRefreshToken
      const owner = yield* repository.byId(found.value.value.grant_id)
      if (Option.isNone(owner) || owner.value.app_id !== client.app.id) return yield* badRefreshToken
      const tokens = yield* newTokens

      return yield* judged(owner.value.id, owner.value.user_id, info, badRefreshToken, (grant, user) =>
        Effect.gen(function* (): Effect.fn.Return<Outcome, never, Effect.Effect.Context<ReturnType<typeof end>> | CurrentActor> {
          const refused = (error: OAuthError): Outcome => ({ refused: error })
          const stored = yield* repository.refreshToken(presented.prefix)
          if (Option.isNone(stored)) return refused(badRefreshToken)
          const now = yield* Timestamp.now
          const { expires_at, rotated_at } = stored.value.value
          if (rotated_at !== null) {
            if (Timestamp.plus(rotated_at, reuseGrace) < now) yield* end(grant, "reuse")
            return refused(badRefreshToken)
          }
          if (expires_at < now) return refused(badRefreshToken)
          if (user === undefined || user.status !== "active") return refused(invalidGrant("The user is not active."))
          if (resource.length > 0 && !isSameAudience(grant.resource, resource))
            return refused(invalidTarget("The resource is not that of the authorization request."))
          // A confidential client authenticates, so that it may change its key (RFC 9449 §5)
          const isOtherKey = dpopKey === undefined || (client.app.client_type === "public" && grant.dpop_jkt !== dpopKey)
          if (grant.dpop_jkt !== null && isOtherKey) return refused(otherKey)
          const scopes = renewedScopes(grant, scope)
          if (scopes === undefined)
            return refused(
              new OAuthError({ error: "invalid_scope", message: "The scope reaches beyond that of the grant, or is unknown." })
            )
          return yield* renew(grant, "rotate", tokens, {
            scopes,
            dpopKey,
            secretId: client.secretId,
            replaces: presented.prefix,
            refused: badRefreshToken
          })
        })
      )
    }),

    revoke: Traced.fn("OAuth2Tokens.revoke")(function* ({ app }: AuthenticatedClient, token: string, info: CallInfo) {
      const id = yield* grantOf(token)
      const found = id === undefined ? Option.none() : yield* repository.byId(id)
      if (Option.isNone(found) || found.value.app_id !== app.id) return
      const { user_id } = found.value
      yield* transaction(
        Effect.gen(function* () {
          yield* accounts.lock([user_id])
          const grant = yield* repository.byId(found.value.id)
          if (Option.isSome(grant)) yield* end(grant.value, "revoke")
        })
      ).pipe(Access.actingAs({ ...SystemActor.systemOauth, ...info, userId: user_id }))
    }),

    disconnect: Traced.fn("OAuth2Tokens.disconnect")(function* (app: OAuth2App) {
      const { userId } = yield* CurrentActor
      yield* Access.authorize("delete", AccessObjects.ownedBy("oauth2_app_code_token", userId))
      yield* Audit.audited(
        { ...subject("delete", { app_id: app.id, user_id: userId }), additional_fields: { event: "disconnect" } },
        Effect.gen(function* () {
          yield* accounts.lock([userId])
          yield* repository.deleteOfUser(app.id, userId)
          return { value: undefined }
        })
      )
    }),

    purge: {
      name: "purge-oauth2-grants",
      every: "10 minutes",
      run: Effect.gen(function* () {
        const now = yield* Timestamp.now
        const codesBefore = Timestamp.minus(now, "1 day")
        const keysBefore = Timestamp.minus(now, apiKeysRetention)
        yield* untilNotFull(purgeBatch, repository.deleteEnded(codesBefore, purgeBatch))
        yield* untilNotFull(purgeBatch, repository.deleteLapsed({ keysBefore, now }, purgeBatch))
        yield* untilNotFull(purgeBatch, repository.deleteRefreshTokens(now, purgeBatch))
      })
    } satisfies Worker<never>
  }
})

/** The tokens of apps: issued, renewed and ended. oauth2-provider.md §7 to §9. */
export class OAuth2Tokens extends Context.Tag("@atelier/core/OAuth2Tokens")<OAuth2Tokens, OAuth2TokensService>() {
  static readonly layer = service(OAuth2Tokens, make)
}
