import { Context, Effect, Encoding, Option, type Redacted } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import { unrestrictedAllowList } from "../../access/scopes/AllowList.js"
import { defaultAppScopes } from "../../access/scopes/AppScope.js"
import { allScope, canonicalScope, isExternalScope } from "../../access/scopes/Scope.js"
import * as Audit from "../../audit/Audit.js"
import { appAudit } from "../clients/OAuth2AppAudit.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { excess } from "../../identity/sessions/Delegation.js"
import { AccountRepository } from "../../identity/users/AccountRepository.js"
import { ApiKeyRepository } from "../../identity/sessions/ApiKeyRepository.js"
import { Ids } from "../../platform/Ids.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { isOwnResource, isResourceIndicator, maximumResources, normalizedResource } from "../../identity/sessions/Audience.js"
import { type Grant, maximumGrants } from "../tokens/Grant.js"
import { GrantRepository } from "../tokens/GrantRepository.js"
import { type OAuth2App, type Prompt, prompts, type ResponseMode, responseModes } from "../clients/OAuth2App.js"
import { OAuth2AppRepository } from "../clients/OAuth2AppRepository.js"
import { invalidClient, invalidRequest, invalidTarget, OAuthError } from "../OAuthError.js"
import { hashText, newSecret } from "../tokens/OAuthSecret.js"
import { matchesRedirectUri } from "../clients/RedirectUri.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { service } from "../../platform/wiring/Standing.js"
import type { Cryptography } from "../../platform/secrets/Cryptography.js"
import type { Auditing } from "../../audit/Audit.js"

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

/** Characters of a state and of a scope. */
const maximumText = 4096

const challenge = /^[A-Za-z0-9._~-]{43,128}$/

/** How far the tokens of an app would reach. */
type Reach = Pick<ConsentRequest, "scope" | "resource">

const isPrompt = (word: string): word is Prompt => prompts.some((known) => known === word)

/** What a client asks to be shown to the user; empty where it leaves that to the service. */
export const promptsOf = ({ prompt }: Pick<ConsentRequest, "prompt">): ReadonlyArray<Prompt> => wordsIn(prompt ?? "").filter(isPrompt)

/** How the answer to a request travels. An unknown mode counts as the default one, in which the refusal of the request travels. */
export const responseModeOf = ({ response_mode }: Pick<ConsentRequest, "response_mode">): ResponseMode =>
  responseModes.find((known) => known === response_mode) ?? "query"

/** SHA-256 in base64url without padding (RFC 7638). */
const thumbprint = /^[A-Za-z0-9_-]{43}$/

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

  /** What is wrong with the form of the scope and of the resources. */
  const reachFindings = ({ resource, scope = "" }: Reach): ReadonlyArray<string> => [
    ...(scope.length > maximumText ? [`scope: must have at most ${maximumText} characters`] : []),
    ...(resource.length > maximumResources ? [`resource: must be given at most ${maximumResources} times`] : []),
    ...(resource.some((text) => !isResourceIndicator(text)) ? ["resource: must be an absolute URI without a fragment"] : [])
  ]

  /** Why an app cannot have a scope or a resource at all. */
  const unreachable = ({ resource, scope = "" }: Reach): OAuthError | undefined => {
    if (resource.some((text) => !isOwnResource(text, accessUrl)))
      return invalidTarget("The resource is not this deployment, nor a part of it.")
    const unknown = narrowOauth2Scopes ? wordsIn(scope).find((name) => !isExternalScope(name)) : undefined
    return unknown === undefined
      ? undefined
      : new OAuthError({ error: "invalid_scope", message: `${JSON.stringify(unknown)} is not a scope.` })
  }

  const violation = (request: ConsentRequest): OAuthError | undefined => {
    const { code_challenge, code_challenge_method: method, repeated, response_type, state = "" } = request
    const findings = repeated.map((name) => `${name}: must be given once`)
    if (response_type === undefined) findings.push("response_type: is required")
    else if (response_type !== "code" && response_type !== "token") findings.push("response_type: must be code")
    if (request.response_mode !== undefined && responseModeOf(request) !== request.response_mode)
      findings.push(`response_mode: must be one of ${responseModes.join(", ")}`)
    const shown = wordsIn(request.prompt ?? "")
    if (shown.some((word) => !isPrompt(word))) findings.push(`prompt: must consist of ${prompts.join(", ")}`)
    else if (shown.includes("none") && shown.length > 1) findings.push("prompt: none must stand alone")
    if (state.length > maximumText) findings.push(`state: must have at most ${maximumText} characters`)
    if (/\p{Cc}/u.test(state)) findings.push("state: must not contain control characters")
    if (response_type !== "token") {
      if (code_challenge === undefined) findings.push("code_challenge: is required")
      else if (!challenge.test(code_challenge))
        findings.push("code_challenge: must have 43 to 128 characters of A-Z, a-z, 0-9, -, ., _ and ~")
      if (method === "plain") findings.push("code_challenge_method: must be S256, as plain protects no code")
      else if (method !== undefined && method !== "S256") findings.push("code_challenge_method: must be S256")
    }
    if (request.dpop_jkt !== undefined && !thumbprint.test(request.dpop_jkt))
      findings.push("dpop_jkt: must be the SHA-256 thumbprint of a key in base64url")
    findings.push(...reachFindings(request))
    if (findings.length > 0) return invalidRequest(`Invalid query params: ${findings.join("; ")}`)
    if (response_type === "token")
      return new OAuthError({ error: "unsupported_response_type", message: "The only supported response type is code." })
    return unreachable(request)
  }

  /** Where the deployment does not narrow tokens, a client that asks for scopes gets more than these. P-34. */
  const granted = (scope: string | undefined): ReadonlyArray<string> => {
    const asked = wordsIn(scope ?? "")
    if (asked.length === 0) return defaultAppScopes
    const known = asked.filter(isExternalScope).map(canonicalScope)
    return [...new Set(narrowOauth2Scopes ? known : [allScope, ...known])]
  }

  const requirePerson = Effect.flatMap(CurrentActor, ({ isApp }) =>
    isApp === true ? denied("A token of an app cannot consent for apps.") : Effect.void
  )

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
          if (Option.isNone(yield* apps.byId(app.id))) return yield* invalidClient
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

const wordsIn = (text: string): ReadonlyArray<string> => text.split(/\s+/).filter((name) => name !== "")

/** Users' consent to apps. oauth2-provider.md §4, §5. */
export class Authorizations extends Context.Tag("@atelier/core/Authorizations")<Authorizations, AuthorizationsService>() {
  static readonly layer = service(Authorizations, make)
}
