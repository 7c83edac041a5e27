/** Proofs that a caller has the key that a token is bound to (RFC 9449 §4). oauth2-provider.md §17.5. */
import { UsedTokens } from "@atelier/core/oauth2"
import { type Cryptography, service, Timestamp } from "@atelier/core/platform"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { Clock, Context, Data, Effect } from "effect"
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } from "jose"
import { createHash } from "node:crypto"
import { Settings } from "../request/Settings.js"
import { signatureAlgorithms } from "./signatureAlgorithms.js"

/** Characters of a proof and of its id. */
const maximumProof = 4 * 1024
const maximumId = 256

/** Seconds for which a proof is good, and by which its maker's clock may be ahead. */
const lifetime = 300
const ahead = 60

/** A proof that is missing or wrong. */
export class BadProof extends Data.TaggedError("BadProof")<{ readonly message: string }> {}

const bad = new BadProof({ message: "The DPoP proof is missing, wrong, expired or used." })

/** The part of a URI that a proof names. */
const withoutQuery = (text: string): string | undefined => {
  if (!URL.canParse(text)) return undefined
  const { origin, pathname } = new URL(text)
  return `${origin}${pathname}`
}

export interface Proven {
  readonly method: string
  /** Below the access URL. */
  readonly path: string
  /** The access token that the proof is for; undefined at the endpoints of the authorization server. */
  readonly token: string | undefined
}

const make = Effect.gen(function* () {
  const used = yield* UsedTokens
  const services = yield* Effect.context<Cryptography>()
  const { accessUrl } = yield* Settings

  const verified = (proof: string, now: number) =>
    Effect.tryPromise({
      try: async () => {
        const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
          typ: "dpop+jwt",
          algorithms: signatureAlgorithms,
          currentDate: new Date(now)
        })
        return { payload, thumbprint: await calculateJwkThumbprint(protectedHeader.jwk ?? {}) }
      },
      catch: () => bad
    })

  /** The thumbprint of the key that a request proves its caller to have, and the use of the proof, which is good once, in all processes. */
  const check = ({ headers }: Pick<HttpServerRequest.HttpServerRequest, "headers">, { method, path, token }: Proven) =>
    Effect.gen(function* () {
      const proof = headers["dpop"]
      // Two headers are joined by a comma, which no proof contains
      if (proof === undefined || proof.length > maximumProof) return yield* bad
      const now = yield* Clock.currentTimeMillis
      const { payload, thumbprint } = yield* verified(proof, now)
      const { ath, htm, htu, iat, jti } = payload
      const seconds = now / 1000
      if (htm !== method || typeof htu !== "string" || withoutQuery(htu) !== withoutQuery(`${accessUrl}${path}`)) return yield* bad
      if (typeof iat !== "number" || iat < seconds - lifetime || iat > seconds + ahead) return yield* bad
      if (token !== undefined && ath !== createHash("sha256").update(token).digest("base64url")) return yield* bad
      if (typeof jti !== "string" || jti === "" || jti.length > maximumId) return yield* bad
      const use = Effect.provide(used.use(`dpop ${thumbprint}`, jti, Timestamp.fromMillis((iat + lifetime) * 1000)), services)
      return { thumbprint, use: Effect.flatMap(use, (isFirst) => (isFirst ? Effect.void : bad)) }
    })

  return { check }
})

/** Checks proofs of possession. */
export class ProofOfPossession extends Context.Tag("@atelier/http/ProofOfPossession")<
  ProofOfPossession,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = service(ProofOfPossession, make)
}
