/** The request of an authorization: its client, its user, and what it is refused for. oauth2-provider.md §4. */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { type Actor, CurrentActor } from "@atelier/core/access"
import {
  type Authorizations,
  type ConsentRequest,
  invalidRequest,
  type OAuth2App,
  type OAuth2Clients,
  OAuthError,
  type Prompt,
  promptsOf,
  type PushedRequests,
  redirectTarget,
  responseModeOf,
  withParameters
} from "@atelier/core/oauth2"
import { Effect } from "effect"
import { queryOf, type RequestErrorDetails } from "../pages/PageOptions.js"
import { oauthAnswer } from "../server/codec/oauthErrors.js"
import { takesHtml } from "../server/request/audience.js"
import type { RequestInfo } from "../server/request/CurrentRequest.js"
import { type Parameters, parametersOf } from "../server/request/form.js"
import type { ProtocolAnswers, Request, Response } from "./answering.js"
import type { loginRedirects } from "./loginRedirects.js"

/** Parameters that an authorization request may give once. */
const authorizeParameters = [
  "client_id",
  "response_type",
  "response_mode",
  "prompt",
  "redirect_uri",
  "scope",
  "state",
  "code_challenge",
  "code_challenge_method",
  "dpop_jkt"
]

const loginRequired = new OAuthError({
  error: "login_required",
  message: "The user has to sign in, and the request does not let the service ask."
})

const consentRequired = new OAuthError({
  error: "consent_required",
  message: "The user has to consent, and the request does not let the service ask."
})

const selectionRequired = new OAuthError({ error: "account_selection_required", message: "The user has to choose an account." })

/** The error of a request whose user has to go through the login, although there is a session; undefined for any other request. */
const requiredLogin = (shown: ReadonlyArray<Prompt>): OAuthError | undefined =>
  shown.includes("login") ? loginRequired : shown.includes("select_account") ? selectionRequired : undefined

/** The authorization request that a client's parameters are. */
export const consentRequestOf = ({ all, get, repeated }: Parameters): ConsentRequest => ({
  response_type: get("response_type"),
  response_mode: get("response_mode"),
  prompt: get("prompt"),
  redirect_uri: get("redirect_uri"),
  scope: get("scope"),
  state: get("state"),
  resource: all("resource"),
  code_challenge: get("code_challenge"),
  code_challenge_method: get("code_challenge_method"),
  dpop_jkt: get("dpop_jkt"),
  repeated: repeated(authorizeParameters)
})

const noRequestObjects = new OAuthError({ error: "request_not_supported", message: "Request objects are not supported." })

const mustBePushed = invalidRequest("The client has to send its authorization requests ahead.")

/** A request that its user may be asked about. */
export interface Asked {
  readonly app: OAuth2App
  readonly request: ConsentRequest
  /** Uses the request up, if it may be consented to once. */
  readonly use: Effect.Effect<void, OAuthError>
  readonly uri: string
  readonly actor: Actor
}

interface Needs {
  readonly settings: ProtocolAnswers["settings"]
  readonly refuseOAuth: ProtocolAnswers["refuseOAuth"]
  readonly clients: OAuth2Clients["Type"]
  readonly authorizations: Authorizations["Type"]
  readonly pushedRequests: PushedRequests["Type"]
  readonly redirects: ReturnType<typeof loginRedirects>
  /** Tells a user why an app's request cannot be answered. */
  readonly explain: (details: RequestErrorDetails) => Effect.Effect<Response, never, Request>
}

/** Returns the continuation of an authorization request that is not refused and whose user is signed in. */
export const authorizationRequests = ({
  authorizations,
  clients,
  explain,
  pushedRequests,
  redirects: { hasJustSignedIn, toLogin, toLoginAgain },
  refuseOAuth,
  settings: { accessUrl, login }
}: Needs) => {
  /** The client of an authorization request, and the request itself: in the query, or sent ahead. */
  const requestIn = (parameters: Parameters) =>
    Effect.gen(function* () {
      const app = yield* clients.get(parameters.get("client_id"))
      const reference = parameters.get("request_uri")
      if (reference !== undefined) return { app, ...(yield* pushedRequests.find(app, reference)) }
      return { app, request: consentRequestOf(parameters), use: Effect.void }
    })

  /** What both methods of `authorize` have in common: the client, the user, where to go on, and then the parameters. */
  return <R>(request: Request, info: RequestInfo, proceed: (asked: Asked) => Effect.Effect<Response, OAuthError, R>) =>
    Effect.gen(function* () {
      const isBrowser = takesHtml(request)
      const isPost = request.method === "POST"
      const parameters = parametersOf(queryOf(request))
      const looked = yield* Effect.either(requestIn(parameters))
      if (looked._tag === "Left") {
        const { status } = oauthAnswer(looked.left)
        return isBrowser ? yield* explain({ status, message: looked.left.message }) : refuseOAuth(looked.left)
      }
      const { app, request: asked, use } = looked.right
      const target = redirectTarget(app, asked)
      const uri = "uri" in target ? target.uri : undefined
      const mode = responseModeOf(asked)
      const shown = promptsOf(asked)
      const refusedAt = (address: string, { error, message }: OAuthError): Response =>
        HttpServerResponse.redirect(
          withParameters(address, { error, error_description: message, state: asked.state, iss: accessUrl }, mode),
          { status: 302 }
        )
      if (info.user?._tag !== "Right") {
        if (uri !== undefined && shown.includes("none")) return refusedAt(uri, authorizations.violation(asked) ?? loginRequired)
        return login !== undefined && requiredLogin(shown) !== undefined ? toLoginAgain(request, info, login) : toLogin(request, info)
      }
      const actor = info.user.right
      if ("violation" in target) {
        return isPost && !isBrowser
          ? refuseOAuth(invalidRequest(`Invalid query params: ${target.violation}`))
          : yield* explain({ status: 400, message: target.violation })
      }
      const onRefused = (error: OAuthError): Response => (isPost && !isBrowser ? refuseOAuth(error) : refusedAt(target.uri, error))
      const isPushed = parameters.get("request_uri") !== undefined
      if (!isPushed && parameters.get("request") !== undefined) return onRefused(noRequestObjects)
      if (!isPushed && app.metadata.require_pushed_authorization_requests === true) return onRefused(mustBePushed)
      const violation = authorizations.violation(asked)
      if (violation !== undefined) return onRefused(violation)
      if (shown.includes("none")) return onRefused(consentRequired)
      const unmet = hasJustSignedIn(request, actor) ? undefined : requiredLogin(shown)
      if (unmet !== undefined)
        return isPost || login === undefined || actor.apiKeyId === undefined ? onRefused(unmet) : toLoginAgain(request, info, login)
      return yield* authorizations.requireGivable(authorizations.granted(asked)).pipe(
        Effect.zipRight(proceed({ app, request: asked, use, uri: target.uri, actor })),
        Effect.provideService(CurrentActor, actor),
        Effect.catchAll((error) => Effect.succeed(onRefused(error)))
      )
    })
}
