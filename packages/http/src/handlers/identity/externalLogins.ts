/** Logins at external providers, and the conversion of users to them. identity.md §7. */
import { conversionPrefix, ExternalLogins, type ExternalLoginType, LoginConversions, type LoginOutcome } from "@atelier/core/identity"
import { Invalid, Timestamp } from "@atelier/core/platform"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Effect, Redacted } from "effect"
import * as contract from "../../contract/identity/externalLogins.js"
import { providerText } from "../../logins/providerText.js"
import { redirectUris } from "../../logins/redirectUris.js"
import { brandOf } from "../../pages/brandOf.js"
import { refusalPage } from "../../pages/refusalPage.js"
import { json } from "../../server/codec/respond.js"
import { withQuery } from "../../server/codec/withQuery.js"
import { cookieOf } from "../../server/credentials/Credential.js"
import { loginCookies } from "../../server/credentials/loginCookies.js"
import { sessionCookie } from "../../server/credentials/SessionCookie.js"
import { callInfo, CurrentRequest } from "../../server/request/CurrentRequest.js"
import { safeRedirect } from "../../server/request/safeRedirect.js"
import { Settings } from "../../server/request/Settings.js"
import { responseOf } from "../../wire/errors.js"
import * as Handlers from "../Handlers.js"
import { failure, loginVisits, type Query, redirect, type Request, type Response, unstored } from "./loginVisits.js"

const queryOf = ({ url }: Request): string => url.slice(url.indexOf("?") + 1)

export const externalLogins = Handlers.group(contract.externalLogins, (handlers) =>
  Effect.gen(function* () {
    const logins = yield* ExternalLogins
    const conversions = yield* LoginConversions
    const settings = yield* Settings
    const brand = yield* brandOf
    const session = sessionCookie(settings)
    const cookies = loginCookies(settings)
    const { isOwn, requireKept, restore, spend, start } = loginVisits(cookies)
    const redirectUriOf = redirectUris(settings)

    const succeeded = (outcome: LoginOutcome, isDevice: boolean, to: string): Response => {
      const response = cookies.clear(isDevice ? unstored(json(200, { redirect_url: to })) : redirect(to))
      return outcome._tag === "Session"
        ? session.set(response, Redacted.value(outcome.token))
        : session.clear(cookies.clearConversion(response))
    }

    const callback =
      (type: ExternalLoginType) =>
      ({ request, urlParams: query }: { readonly request: Request; readonly urlParams: Query }) =>
        Effect.gen(function* () {
          const provider = yield* logins.provider(type)
          const isDevice = provider.device !== undefined
          // Without its state the text is chosen by a link: the service must not say whatever a link makes it say
          if (query.error !== "" && !isOwn(query, request)) return yield* new Invalid({ message: "The provider refused the login." })
          if (query.error !== "") {
            return yield* new Invalid({
              message: `The provider refused the login: ${providerText(query.error)}.`,
              detail: providerText(query.error_description) || providerText(query.error_uri)
            })
          }
          const redirect_uri = yield* redirectUriOf(provider, request.headers["host"] ?? "")
          if (query.code === "") return yield* start(provider, redirect_uri, query)
          const kept = yield* requireKept(provider, redirect_uri, query, request)
          const { code, state } = query
          const to = safeRedirect(cookies.read(request, "redirect"))
          const { user } = yield* CurrentRequest
          const conversion = state.startsWith(conversionPrefix)
            ? {
                state,
                token: cookieOf(request, settings.names.conversionCookie),
                apiKeyId: user?._tag === "Right" ? user.right.apiKeyId : undefined
              }
            : undefined

          spend(state)
          return yield* logins
            .complete(type, { ...kept, redirect_uri, query: queryOf(request), code, state }, yield* callInfo, conversion)
            .pipe(
              Effect.map((outcome) => succeeded(outcome, isDevice, to)),
              Effect.catchTags({
                AuthorizationPending: () => {
                  restore(state)
                  return Effect.succeed(unstored(json(400, { message: "The login is not allowed yet.", detail: "authorization_pending" })))
                },
                ProviderFailure: (error) => {
                  // The code of a device stays good
                  if (isDevice) restore(state)
                  return Effect.zipRight(
                    Effect.logWarning("a login at a provider failed", { type, message: error.message, detail: error.detail }),
                    Effect.fail(failure(error))
                  )
                },
                Forbidden: (error) => (isDevice ? error : Effect.map(brand, (shown) => cookies.clear(refusalPage(settings, shown, error)))),
                Unauthenticated: (error) =>
                  isDevice
                    ? error
                    : Effect.succeed(
                        unstored(
                          HttpServerResponse.setHeader(
                            json(401, responseOf(error)),
                            "location",
                            withQuery(settings.login ?? `${settings.mount}/login`, { message: error.message, redirect: to })
                          )
                        )
                      )
              })
            )
        })

    return handlers
      .handle("convertLogin", ({ path, payload }) =>
        Effect.gen(function* () {
          const { expires_at, state_string, to_login_type, token, user_id } = yield* conversions.begin(path.user, payload)
          const seconds = Math.ceil((Timestamp.toMillis(expires_at) - Timestamp.toMillis(yield* Timestamp.now)) / 1000)
          const answer = json(201, { state_string, expires_at, to_type: to_login_type, user_id })
          return cookies.setConversion(answer, Redacted.value(token), seconds)
        })
      )
      .handle("getOidcClaims", () => Effect.map(logins.claims(), (claims) => ({ claims })))
      .handle("getUserClaims", ({ path }) => logins.claimsOf(path.user))
      .handle("oidcCallback", callback("oidc"))
      .handle("githubCallback", callback("github"))
      .handle("startGithubDevice", () =>
        Effect.mapError(logins.startDevice("github"), (error) => (error._tag === "ProviderFailure" ? failure(error) : error))
      )
  })
)
