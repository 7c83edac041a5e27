import { Context, Effect, Encoding, Option, type Redacted } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import { unrestrictedAllowList } from "../../access/scopes/AllowList.js"
import * as Audit from "../../audit/Audit.js"
import { appAudit } from "../clients/OAuth2AppAudit.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { excess } from "../../identity/sessions/Delegation.js"
import { AccountRepository } from "../../identity/users/AccountRepository.js"
import { ApiKeyRepository } from "../../identity/sessions/ApiKeyRepository.js"
import { Ids } from "../../platform/Ids.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { normalizedResource } from "../../identity/sessions/Audience.js"
import { type Grant, maximumGrants } from "../tokens/Grant.js"
import { GrantRepository } from "../tokens/GrantRepository.js"
import type { OAuth2App } from "../clients/OAuth2App.js"
import { OAuth2AppRepository } from "../clients/OAuth2AppRepository.js"
import { invalidClient, invalidRequest, OAuthError } from "../OAuthError.js"
import { hashText, newSecret } from "../tokens/OAuthSecret.js"
import { matchesRedirectUri } from "../clients/RedirectUri.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { service } from "../../platform/wiring/Standing.js"
import type { Cryptography } from "../../platform/secrets/Cryptography.js"
import type { Auditing } from "../../audit/Audit.js"
import { type Reach, reachFindings, authorizationRules } from "./AuthorizationRules.js"

/** The parameters of an authorization request. A parameter that is empty counts as absent. */
export interface ConsentRequest {
  readonly response_type: string | undefined
  /** `query` if it is absent. */
  readonly response_mode: string | undefined
  /** The pages shown to the user, as a list separated by spaces. */
  readonly prompt: string | undefined
  readonly redirect_uri: string | undefined
  readonly scope: string | undefined
  readonly state: string | undefined
  readonly resource: ReadonlyArray<string>
  readonly code_challenge: string | undefined
  readonly code_challenge_method: string | undefined
  /** The thumbprint of the key that the code is bound to (RFC 9449 §10). */
  readonly dpop_jkt: string | undefined
  /** Names of parameters that were given twice. */
  readonly repeated: ReadonlyArray<string>
}

/** How long a code can be redeemed. */
const codeLifetime = "10 minutes"

const denied = (message: string): OAuthError => new OAuthError({ error: "access_denied", message, forbidden: true })

/** Where the browser goes on, or why it cannot: with these two refusals it is sent nowhere. oauth2-provider.md §6. */
export const redirectTarget = (
  { redirect_uris }: OAuth2App,
  { redirect_uri, repeated }: Pick<ConsentRequest, "redirect_uri" | "repeated">
): { readonly uri: string } | { readonly violation: string } => {
  if (repeated.includes("redirect_uri")) return { violation: "redirect_uri: must be given once" }
  const [only, ...others] = redirect_uris
  if (redirect_uri === undefined) {
    if (only === undefined) return { violation: "redirect_uri: the client has registered none" }
    if (others.length === 0) return { uri: only }
    return { violation: "redirect_uri: is required, as the client has several" }
  }
  return redirect_uris.some((registered) => matchesRedirectUri(registered, redirect_uri))
    ? { uri: redirect_uri }
    : { violation: "redirect_uri: is not one of the client's" }
}

/** The methods of {@link Authorizations}. */
export interface AuthorizationsService {
  /** The rule that a request breaks; undefined for one that a user may be asked about. */
  readonly violation: (request: ConsentRequest) => OAuthError | undefined

  /** Fails for an app that answers in place of its user. */
  readonly requirePerson: Effect.Effect<void, OAuthError, CurrentActor>

  /** The scopes that an app gets with a request. */
  readonly granted: (request: Pick<ConsentRequest, "scope">) => ReadonlyArray<string>

  /** The rule that the scope and the resources of a request break. */
  readonly reachViolation: (reach: Reach) => OAuthError | undefined

  /** Fails unless the actor may give scopes to an app. */
  readonly requireGivable: (scopes: ReadonlyArray<string>) => Effect.Effect<undefined, OAuthError, CurrentActor>

  /**
   * Gives an app the actor's permission. Returns the code that the app redeems, once and within 10 minutes. The caller has checked the
   * request with `redirectTarget` and `violation`. `using` runs in the transaction.
   */
  readonly consent: (
    app: OAuth2App,
    request: ConsentRequest,
    using?: Effect.Effect<void, OAuthError>
  ) => Effect.Effect<Redacted.Redacted<string>, OAuthError, CurrentActor | Cryptography | Auditing>
}

const make = Effect.gen(function* () {
  const repository = yield* GrantRepository
  const apps = yield* OAuth2AppRepository
  const accounts = yield* AccountRepository
  const keys = yield* ApiKeyRepository
  const { accessUrl, brand, narrowOauth2Scopes } = yield* DeploymentOptions

  const requirePerson = Effect.flatMap(CurrentActor, ({ isApp }) =>
    isApp === true ? denied("A token of an app cannot consent for apps.") : Effect.void
  )

  const { unreachable, violation, granted } = authorizationRules({ accessUrl, narrowOauth2Scopes })

  return {
    violation,

    requirePerson,

    granted: ({ scope }: Pick<ConsentRequest, "scope">) => granted(scope),

    reachViolation: (reach: Reach): OAuthError | undefined => {
      const findings = reachFindings(reach)
      return findings.length > 0 ? invalidRequest(findings.join("; ")) : unreachable(reach)
    },

    requireGivable: Traced.fn("Authorizations.requireGivable")(function* (scopes: ReadonlyArray<string>) {
      yield* requirePerson
      const { subject, userId } = yield* CurrentActor
      if (!(yield* Access.can("create", AccessObjects.ownedBy("oauth2_app_code_token", userId))))
        return yield* denied("The credential in use may not consent for apps.")
      if (excess(subject, scopes, unrestrictedAllowList).length > 0)
        return yield* denied("The credential in use has fewer rights than the app would get.")
    }),

    consent: Traced.fn("Authorizations.consent")(function* (
      app: OAuth2App,
      request: ConsentRequest,
      using: Effect.Effect<void, OAuthError> = Effect.void
    ) {
      const { apiKeyId, userId } = yield* CurrentActor
      const now = yield* Timestamp.now
      const { hashedSecret, prefix, text } = yield* newSecret(brand)
      const hashedState = request.state === undefined ? null : Encoding.encodeHex(yield* hashText(request.state))
      const grant: Grant = {
        id: yield* (yield* Ids).next,
        app_id: app.id,
        user_id: userId,
        status: "issued",
        created_at: now,
        updated_at: now,
        code_expires_at: Timestamp.plus(now, codeLifetime),
        redirect_uri: request.redirect_uri ?? null,
        hashed_state: hashedState,
        code_challenge: request.code_challenge ?? "",
        resource: [...new Set(request.resource.map(normalizedResource))],
        scopes: granted(request.scope),
        secret_id: null,
        api_key_id: null,
        refresh_expires_at: null,
        dpop_jkt: request.dpop_jkt ?? null
      }
      const code: Redacted.Redacted<string> = text
      return yield* Audit.audited(
        {
          action: "write",
          resource: appAudit,
          id: app.id,
          target: app.name,
          additional_fields: { event: "consent" }
        },
        Effect.gen(function* () {
          const [user] = yield* accounts.lock([userId])
          if (user === undefined || user.status !== "active") return yield* denied("The account is not active.")
          if (apiKeyId !== undefined && Option.isNone(yield* keys.byId(apiKeyId))) return yield* denied("The session has just ended.")
          if (Option.isNone(yield* apps.lock(app.id))) return yield* invalidClient
          yield* using
          yield* repository.insert(grant, { prefix, hashedSecret }, apiKeyId)
          yield* repository.deleteBeyond(app.id, userId, maximumGrants)
          yield* apps.recordUse(app.id, now)
          return { value: code }
        })
      )
    })
  }
})

/** Users' consent to apps. oauth2-provider.md §4, §5. */
export class Authorizations extends Context.Tag("@atelier/core/Authorizations")<Authorizations, AuthorizationsService>() {
  static readonly layer = service(Authorizations, make)
}
