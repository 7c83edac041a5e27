/** The authorization endpoint: who asks, the page that the user consents on, and the code. oauth2-provider.md §4, §5. */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { type Actor, CurrentActor } from "@atelier/core/access"
import {
  Authorizations,
  type ConsentRequest,
  invalidRequest,
  type OAuth2App,
  OAuth2Clients,
  OAuthError,
  type Prompt,
  promptsOf,
  PushedRequests,
  redirectTarget,
  responseModeOf,
  withParameters
} from "@atelier/core/oauth2"
import { Effect, Redacted } from "effect"
import { brandOf } from "../pages/brandOf.js"
import { type HostPages, pagesOf, queryOf, replacement, type RequestErrorDetails } from "../pages/PageOptions.js"
import { csrfTokenOf, forgeryCheck, maskedToken } from "../server/credentials/Csrf.js"
import { loginCookies } from "../server/credentials/loginCookies.js"
import type { RequestInfo } from "../server/request/CurrentRequest.js"
import type { ProtocolAnswers, Request, Response } from "./answering.js"
import { consentDetails, consentPage, requestErrorPage } from "./consentPage.js"
import { type Parameters, parametersOf, readForm } from "../server/request/form.js"
import { oauthAnswer } from "../server/codec/oauthErrors.js"
import { loginRedirects } from "./loginRedirects.js"

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

const takesHtml = ({ headers }: Request): boolean => /\btext\/html\b/i.test(headers["accept"] ?? "")

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

/** Returns the handlers of both methods. Where browsers have no page to sign in on, callers that are not signed in are refused. */
export const authorizeRoutes = ({ answering, refuseOAuth, settings }: ProtocolAnswers, options: HostPages) =>
  Effect.gen(function* () {
    const { accessUrl, login, mount } = settings
    const pages = pagesOf(options) ?? {}
    const brand = yield* brandOf
    const clients = yield* OAuth2Clients
    const authorizations = yield* Authorizations
    const pushedRequests = yield* PushedRequests
    const forgeryOf = forgeryCheck(settings)
    const cookies = loginCookies(settings)

    /** Tells a user why an app's request cannot be answered. */
    const explain = (details: RequestErrorDetails) => {
      const by = pages.requestError
      return by === undefined
        ? Effect.map(brand, (shown) => requestErrorPage(settings, shown, details))
        : replacement(by, details, { status: String(details.status), message: details.message })
    }

    interface Asked {
      readonly app: OAuth2App
      readonly request: ConsentRequest
      /** Uses the request up, if it may be consented to once. */
      readonly use: Effect.Effect<void, OAuthError>
      readonly uri: string
      readonly actor: Actor
    }

    /** The client of an authorization request, and the request itself: in the query, or sent ahead. */
    const requestIn = (parameters: Parameters) =>
      Effect.gen(function* () {
        const app = yield* clients.get(parameters.get("client_id"))
        const reference = parameters.get("request_uri")
        if (reference !== undefined) return { app, ...(yield* pushedRequests.find(app, reference)) }
        return { app, request: consentRequestOf(parameters), use: Effect.void }
      })

    const { toLogin, toLoginAgain, hasJustSignedIn } = loginRedirects({ login, refuseOAuth, mount, cookies })

    /** What both methods of `authorize` have in common: the client, the user, where to go on, and then the parameters. */
    const authorize = <R>(request: Request, info: RequestInfo, proceed: (asked: Asked) => Effect.Effect<Response, OAuthError, R>) =>
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

    const ask = answering((request, info) =>
      authorize(request, info, ({ actor, app, request: asked, uri }) =>
        Effect.suspend(() => {
          const details = consentDetails(settings, {
            app,
            uri,
            scopes: authorizations.granted(asked),
            state: asked.state,
            mode: responseModeOf(asked),
            username: actor.username ?? "",
            csrfToken: maskedToken(csrfTokenOf(info, request))
          })
          return pages.consent === undefined
            ? Effect.map(brand, (shown) => consentPage(settings, shown, details))
            : replacement(pages.consent, details)
        })
      )
    )

    const consent = answering((request, info) =>
      Effect.gen(function* () {
        const form = yield* Effect.orElseSucceed(readForm(request), () => parametersOf(""))
        const forgery = forgeryOf(request, { path: info.path, query: queryOf(request) }, form.get("csrf_token") ?? "")
        if (forgery !== undefined) return HttpServerResponse.text(forgery, { status: 400 })
        return yield* authorize(request, info, ({ app, request: asked, uri, use }) =>
          Effect.map(authorizations.consent(app, asked, use), (code) =>
            cookies.clearFormerSession(
              HttpServerResponse.redirect(
                withParameters(uri, { code: Redacted.value(code), state: asked.state, iss: accessUrl }, responseModeOf(asked)),
                { status: 302 }
              )
            )
          )
        )
      })
    )

    return {
      ask,
      consent
    }
  })
