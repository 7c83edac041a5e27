import { defaultAppScopes } from "../../access/scopes/AppScope.js"
import { allScope, canonicalScope, isExternalScope } from "../../access/scopes/Scope.js"
import type { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { isOwnResource, isResourceIndicator, maximumResources } from "../../identity/sessions/Audience.js"
import { type Prompt, prompts, type ResponseMode, responseModes } from "../clients/OAuth2App.js"
import { invalidRequest, invalidTarget, OAuthError } from "../OAuthError.js"
import type { ConsentRequest } from "./Authorizations.js"

/** Characters of a state and of a scope. */
const maximumText = 4096

const challenge = /^[A-Za-z0-9._~-]{43,128}$/

/** How far the tokens of an app would reach. */
export type Reach = Pick<ConsentRequest, "scope" | "resource">

const isPrompt = (word: string): word is Prompt => prompts.some((known) => known === word)

/** What a client asks to be shown to the user; empty where it leaves that to the service. */
export const promptsOf = ({ prompt }: Pick<ConsentRequest, "prompt">): ReadonlyArray<Prompt> => wordsIn(prompt ?? "").filter(isPrompt)

/** How the answer to a request travels. An unknown mode counts as the default one, in which the refusal of the request travels. */
export const responseModeOf = ({ response_mode }: Pick<ConsentRequest, "response_mode">): ResponseMode =>
  responseModes.find((known) => known === response_mode) ?? "query"

/** SHA-256 in base64url without padding (RFC 7638). */
const thumbprint = /^[A-Za-z0-9_-]{43}$/

const wordsIn = (text: string): ReadonlyArray<string> => text.split(/\s+/).filter((name) => name !== "")

/** What is wrong with the form of the scope and of the resources. */
export const reachFindings = ({ resource, scope = "" }: Reach): ReadonlyArray<string> => [
  ...(scope.length > maximumText ? [`scope: must have at most ${maximumText} characters`] : []),
  ...(resource.length > maximumResources ? [`resource: must be given at most ${maximumResources} times`] : []),
  ...(resource.some((text) => !isResourceIndicator(text)) ? ["resource: must be an absolute URI without a fragment"] : [])
]

type Needs = Pick<DeploymentOptions["Type"], "accessUrl" | "narrowOauth2Scopes">

/** What an authorization request may ask for, and the scopes that it is given. */
export const authorizationRules = ({ accessUrl, narrowOauth2Scopes }: Needs) => {
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

  return { unreachable, violation, granted }
}
