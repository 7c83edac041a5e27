import {
  conversionPrefix,
  ExternalLogins,
  type ExternalLoginType,
  LoginConversions,
  type LoginOutcome,
  type LoginProvider,
  type ProviderFailure
} from "@atelier/core/identity"
import { constantTimeEquals, Cryptography, Invalid, Lru, randomAlphanumeric, Timestamp, Unauthenticated } from "@atelier/core/platform"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Effect, Encoding, Redacted } from "effect"
import * as contract from "../../contract/identity/externalLogins.js"
import { InternalError, responseOf } from "../../wire/errors.js"
import { providerText } from "../../logins/providerText.js"
import { isDynamic, redirectUris } from "../../logins/redirectUris.js"
import { cookieOf } from "../../server/credentials/Credential.js"
import { callInfo, CurrentRequest } from "../../server/request/CurrentRequest.js"
import { loginCookies } from "../../server/credentials/loginCookies.js"
import { json } from "../../server/codec/respond.js"
import { safeRedirect } from "../../server/request/safeRedirect.js"
import { sessionCookie } from "../../server/credentials/SessionCookie.js"
import { Settings } from "../../server/request/Settings.js"
import { withQuery } from "../../server/codec/withQuery.js"
import { brandOf } from "../../pages/brandOf.js"
import { refusalPage } from "../../pages/refusalPage.js"
import * as Handlers from "../Handlers.js"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

interface Query {
  readonly code: string
  readonly state: string
  readonly error: string
  readonly error_description: string
  readonly error_uri: string
  readonly redirect: string
  readonly oidc_merge_state: string
}

/** Characters of a state and of a nonce, of 62 kinds each. */
const stateLength = 32

/** Characters of a code verifier (RFC 7636 §4.1). */
const verifierLength = 64

/** States that have come back, which are good for nothing any more; older ones are spent at the provider anyway. */
const rememberedStates = 10_000

const encoder = new TextEncoder()
const isSame = (left: string, right: string): boolean => constantTimeEquals(encoder.encode(left), encoder.encode(right))

/** S256 (RFC 7636 §4.2). */
const challengeOf = (verifier: string): Effect.Effect<string, never, Cryptography> =>
  Effect.flatMap(Cryptography, ({ sha256 }) => Effect.map(sha256(encoder.encode(verifier)), Encoding.encodeBase64Url))

/** An answer that belongs to one browser, at one time. */
const unstored = (response: Response): Response => HttpServerResponse.setHeader(response, "cache-control", "no-store")

const redirect = (location: string): Response => unstored(HttpServerResponse.redirect(location, { status: 307 }))

const failure = ({ detail, message }: ProviderFailure): InternalError => new InternalError({ message, detail })

const queryOf = ({ url }: Request): string => url.slice(url.indexOf("?") + 1)

export const externalLogins = Handlers.group(contract.externalLogins, (handlers) =>
  Effect.gen(function* () {
    const logins = yield* ExternalLogins
    const conversions = yield* LoginConversions
    const settings = yield* Settings
    const brand = yield* brandOf
    const session = sessionCookie(settings)
    const cookies = loginCookies(settings)
    const states = Lru.make<string, { readonly isSpent: boolean }>(rememberedStates)

    const redirectUriOf = redirectUris(settings)

    /** Redirects the browser to the provider, with cookies that its return is checked against. */
    const start = (provider: LoginProvider, redirect_uri: string, query: Query) =>
      Effect.gen(function* () {
        const merge = query.oidc_merge_state
        if (merge !== "" && !new RegExp(`^${conversionPrefix}[0-9A-Za-z]{${stateLength}}$`).test(merge)) {
          return yield* Invalid.field("oidc_merge_state", "is not the state of a conversion")
        }
        const state = merge === "" ? yield* randomAlphanumeric(stateLength) : merge
        const nonce = yield* randomAlphanumeric(stateLength)
        const verifier = (yield* provider.pkce) ? yield* randomAlphanumeric(verifierLength) : ""
        const code_challenge = verifier === "" ? "" : yield* challengeOf(verifier)
        const location = yield* Effect.mapError(provider.start({ redirect_uri, state, nonce, code_challenge }), failure)
        return cookies.set(redirect(location), {
          state,
          nonce,
          redirect: query.redirect === "" ? "" : safeRedirect(query.redirect),
          ...(verifier === "" ? {} : { verifier }),
          ...(isDynamic(provider) ? { redirectUri: redirect_uri } : {})
        })
      })

    /** Compares the browser's cookies with its query. identity.md §7.1 no. 5. */
    const requireKept = (provider: LoginProvider, redirect_uri: string, { state }: Query, request: Request) =>
      Effect.gen(function* () {
        if (state === "") return yield* new Invalid({ message: "The state is missing." })
        const kept = cookies.read(request, "state")
        if (kept === "") return yield* new Unauthenticated({ message: "The cookie of the login is missing. Sign in again." })
        if (!isSame(kept, state)) return yield* new Unauthenticated({ message: "The state belongs to another browser. Sign in again." })
        const verifier = cookies.read(request, "verifier")
        if (verifier === "" && (yield* provider.pkce))
          return yield* new Invalid({ message: "The cookie with the code verifier is missing." })
        const nonce = cookies.read(request, "nonce")
        if (nonce === "" && provider.type === "oidc") return yield* new Invalid({ message: "The cookie with the nonce is missing." })
        if (isDynamic(provider) && !isSame(cookies.read(request, "redirectUri"), redirect_uri)) {
          return yield* new Invalid({ message: "The login returned to another host than the one where it began." })
        }
        if (states.get(state)?.isSpent === true) {
          return yield* new Unauthenticated({ message: "This login has been completed already. Sign in again." })
        }
        return { nonce, code_verifier: Redacted.make(verifier) }
      })

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

          states.set(state, { isSpent: true })
          return yield* logins
            .complete(type, { ...kept, redirect_uri, query: queryOf(request), code, state }, yield* callInfo, conversion)
            .pipe(
              Effect.map((outcome) => succeeded(outcome, isDevice, to)),
              Effect.catchTags({
                AuthorizationPending: () => {
                  states.set(state, { isSpent: false })
                  return Effect.succeed(unstored(json(400, { message: "The login is not allowed yet.", detail: "authorization_pending" })))
                },
                ProviderFailure: (error) => {
                  // The code of a device stays good
                  if (isDevice) states.set(state, { isSpent: false })
                  return Effect.zipRight(
                    Effect.logWarning("a login at a provider failed", { type, message: error.message, detail: error.detail }),
                    failure(error)
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
