/** How a client proves with a signature who it is (RFC 7523 §2.2, §3). oauth2-provider.md §17.4. */
import { clientIdOf, invalidClient, type OAuth2App, OAuth2Clients } from "@atelier/core/oauth2"
import { Timestamp } from "@atelier/core/platform"
import { Clock, Effect } from "effect"
import { createLocalJWKSet, decodeJwt, errors, type JSONWebKeySet, jwtVerify } from "jose"
import type { makeClientKeys } from "./clientKeys.js"
import { signatureAlgorithms } from "../server/credentials/signatureAlgorithms.js"

export const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

/** Characters of an assertion and of its id, and seconds that it may be good for: its id is stored for as long. */
const maximumAssertion = 8 * 1024
const maximumId = 256
const maximumLifetime = 3600

/** Seconds that clocks may differ by. */
const leeway = 30

/** The client that an assertion says it is from, before any of it is proven. */
export const claimedClient = (assertion: string): string | undefined => {
  if (assertion.length > maximumAssertion) return undefined
  try {
    return decodeJwt(assertion).sub
  } catch {
    return undefined
  }
}

/** Returns how an assertion is checked. `audiences` are the names that the service has for its clients. */
export const assertionCheck = (
  clients: OAuth2Clients["Type"],
  keysOf: ReturnType<typeof makeClientKeys>,
  audiences: ReadonlyArray<string>
) => {
  const verified = (assertion: string, app: OAuth2App, keys: JSONWebKeySet, now: number) =>
    Effect.tryPromise({
      try: () =>
        jwtVerify(assertion, createLocalJWKSet(keys), {
          issuer: clientIdOf(app),
          subject: clientIdOf(app),
          audience: [...audiences],
          algorithms: signatureAlgorithms,
          requiredClaims: ["exp", "jti"],
          clockTolerance: leeway,
          currentDate: new Date(now)
        }),
      catch: (error) => (error instanceof errors.JWKSNoMatchingKey ? ("unknown_key" as const) : ("refused" as const))
    })

  /** Authenticates a client. Fails with `invalid_client`, whatever is wrong. */
  return (app: OAuth2App, assertion: string) =>
    Effect.gen(function* () {
      if (app.token_endpoint_auth_method !== "private_key_jwt" || assertion.length > maximumAssertion) return yield* invalidClient
      const now = yield* Clock.currentTimeMillis
      const judged = (isRenewed: boolean) =>
        Effect.flatMap(keysOf(app, isRenewed), (keys) =>
          keys === undefined ? Effect.fail("refused" as const) : verified(assertion, app, keys, now)
        )
      const { payload } = yield* judged(false).pipe(
        // The client may have published a new key
        Effect.catchAll((reason) => (reason === "unknown_key" ? judged(true) : Effect.fail(reason))),
        Effect.mapError(() => invalidClient)
      )
      const { exp = 0, jti = "" } = payload
      const seconds = now / 1000
      if (jti === "" || jti.length > maximumId || exp > seconds + maximumLifetime + leeway) return yield* invalidClient
      return yield* clients.admit(app, { id: jti, expires_at: Timestamp.fromMillis(exp * 1000 + leeway * 1000) })
    })
}

export type AssertionCheck = ReturnType<typeof assertionCheck>
