/** The way of a browser to a provider and back, and the cookies that its return is checked against. identity.md §7.1. */
import { conversionPrefix, type LoginProvider, type ProviderFailure } from "@atelier/core/identity"
import { constantTimeEquals, Cryptography, Invalid, Lru, randomAlphanumeric, Unauthenticated } from "@atelier/core/platform"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Effect, Encoding, Redacted } from "effect"
import { isDynamic } from "../../logins/redirectUris.js"
import type { loginCookies } from "../../server/credentials/loginCookies.js"
import { safeRedirect } from "../../server/request/safeRedirect.js"
import { InternalError, Unavailable } from "../../wire/errors.js"

export type Request = HttpServerRequest.HttpServerRequest
export type Response = HttpServerResponse.HttpServerResponse

/** The query with which a browser begins a login, or comes back from the provider. */
export interface Query {
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

/** Whether a text is a state that the service has made. Longer ones would take memory once they are spent. */
const isState = (text: string): boolean => text.length <= conversionPrefix.length + stateLength && /^[0-9A-Za-z-]{32,}$/.test(text)

const encoder = new TextEncoder()
const isSame = (left: string, right: string): boolean => constantTimeEquals(encoder.encode(left), encoder.encode(right))

/** S256 (RFC 7636 §4.2). */
const challengeOf = (verifier: string): Effect.Effect<string, never, Cryptography> =>
  Effect.flatMap(Cryptography, ({ sha256 }) => Effect.map(sha256(encoder.encode(verifier)), Encoding.encodeBase64Url))

/** An answer that belongs to one browser, at one time. */
export const unstored = (response: Response): Response => HttpServerResponse.setHeader(response, "cache-control", "no-store")

/** Sends a browser to an address. */
export const redirect = (location: string): Response => unstored(HttpServerResponse.redirect(location, { status: 307 }))

/** The answer for a provider that does not do its part. */
export const failure = ({ detail, isAway, message }: ProviderFailure): InternalError | Unavailable =>
  isAway === true ? new Unavailable({ message, detail }) : new InternalError({ message, detail })

/** Returns the steps of a visit, which remember the states that have come back. */
export const loginVisits = (cookies: ReturnType<typeof loginCookies>) => {
  const states = Lru.make<string, { readonly isSpent: boolean }>(rememberedStates)

  /** Whether the provider takes a code challenge. */
  const challenges = (provider: LoginProvider) => Effect.mapError(provider.pkce, failure)

  /** Redirects the browser to the provider, with cookies that its return is checked against. */
  const start = (provider: LoginProvider, redirect_uri: string, query: Query) =>
    Effect.gen(function* () {
      const merge = query.oidc_merge_state
      if (merge !== "" && !new RegExp(`^${conversionPrefix}[0-9A-Za-z]{${stateLength}}$`).test(merge)) {
        return yield* Invalid.field("oidc_merge_state", "is not the state of a conversion")
      }
      const state = merge === "" ? yield* randomAlphanumeric(stateLength) : merge
      const nonce = yield* randomAlphanumeric(stateLength)
      const verifier = (yield* challenges(provider)) ? yield* randomAlphanumeric(verifierLength) : ""
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
      if (!isState(state) || !isSame(kept, state))
        return yield* new Unauthenticated({ message: "The state belongs to another browser. Sign in again." })
      const verifier = cookies.read(request, "verifier")
      if (verifier === "" && (yield* challenges(provider)))
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

  /** Whether the browser has begun the login that a query is the end of. */
  const isOwn = ({ state }: Query, request: Request): boolean => isState(state) && isSame(cookies.read(request, "state"), state)

  return {
    start,
    isOwn,
    requireKept,
    /** Notes that a state has come back. */
    spend: (state: string): void => void states.set(state, { isSpent: true }),
    /** Lets a state come back again. */
    restore: (state: string): void => void states.set(state, { isSpent: false })
  }
}
