/** The authorization endpoint: who asks, the page that the user consents on, and the code. oauth2-provider.md §4, §5. */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Authorizations, OAuth2Clients, PushedRequests, responseModeOf, withParameters } from "@atelier/core/oauth2"
import { Effect, Redacted } from "effect"
import { brandOf } from "../pages/brandOf.js"
import { type HostPages, pagesOf, queryOf, replacement, type RequestErrorDetails } from "../pages/PageOptions.js"
import { csrfTokenOf, forgeryCheck, maskedToken } from "../server/credentials/Csrf.js"
import { loginCookies } from "../server/credentials/loginCookies.js"
import { parametersOf, readForm } from "../server/request/form.js"
import type { ProtocolAnswers } from "./answering.js"
import { authorizationRequests } from "./authorizationRequests.js"
import { consentDetails, consentPage, requestErrorPage } from "./consentPage.js"
import { loginRedirects } from "./loginRedirects.js"

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

    const redirects = loginRedirects({ login, refuseOAuth, mount, cookies })
    const authorize = authorizationRequests({ settings, refuseOAuth, clients, authorizations, pushedRequests, redirects, explain })

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
