import { Invalid, Unauthenticated } from "@atelier/core/platform"
import { Clock, Effect, Option, Schema } from "effect"
import { createRemoteJWKSet, errors, jwtVerify, type JWTVerifyGetKey } from "jose"

const Claims = Schema.Struct({ google: Schema.Struct({ compute_engine: Schema.Struct({ instance_id: Schema.NonEmptyString }) }) })

/** Where Google publishes its keys, by the algorithm of the signature. */
const published: Readonly<Record<string, string>> = {
  RS256: "https://www.googleapis.com/oauth2/v3/certs",
  ES256: "https://www.gstatic.com/iap/verify/public_key-jwk"
}

/** The keys that Google publishes, read when they are needed. */
export const googleKeys = (): JWTVerifyGetKey => {
  const sets = new Map(Object.entries(published).map(([algorithm, url]) => [algorithm, createRemoteJWKSet(new URL(url))]))
  return (header, token) => {
    const keys = sets.get(header.alg ?? "")
    return keys === undefined ? Promise.reject(new errors.JOSENotSupported("the algorithm is not one of Google's")) : keys(header, token)
  }
}

/** Verifies tokens of instances. Any audience may have asked for them. */
export const googleVerifier =
  (keys: JWTVerifyGetKey) =>
  ({ json_web_token }: { readonly json_web_token: string }): Effect.Effect<string, Unauthenticated | Invalid> =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const options = { algorithms: Object.keys(published), currentDate: new Date(now), requiredClaims: ["exp"] }
      const { payload } = yield* Effect.tryPromise({
        try: () => jwtVerify(json_web_token, keys, options),
        catch: (cause) =>
          new Unauthenticated({
            message: "The identity of the instance cannot be verified.",
            detail: cause instanceof errors.JOSEError ? cause.message : "Google's keys cannot be read now."
          })
      })
      const claims = Schema.decodeUnknownOption(Claims)(payload)
      if (Option.isNone(claims)) return yield* new Invalid({ message: "The token does not name an instance of Google Compute Engine." })
      return claims.value.google.compute_engine.instance_id
    })
