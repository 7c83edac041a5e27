/** The verification of licenses with the keys of the host. deployment.md §6.1. */
import { type Authority, LicenseRefused, makeGrantsInForce, type VerifiedLicense } from "@atelier/core/deployment"
import { Uuid } from "@atelier/core/platform"
import { Effect, Option, Schema } from "effect"
import { compactVerify, errors, importJWK } from "jose"

const Seconds = Schema.Number.pipe(Schema.between(0, 253_402_300_799))
const flag = Schema.optionalWith(Schema.Boolean, { default: () => false, nullable: true })
const texts = Schema.optionalWith(Schema.Array(Schema.String), { default: () => [], nullable: true })
const text = Schema.optionalWith(Schema.String, { default: () => "", nullable: true })

/** The claims of version 3. */
const Claims = Schema.parseJson(
  Schema.Struct({
    version: Schema.Literal(3),
    iat: Seconds,
    nbf: Seconds,
    exp: Seconds,
    license_expires: Seconds,
    account_type: text,
    account_id: text,
    jti: text,
    deployment_ids: texts,
    trial: flag,
    require_telemetry: flag,
    all_features: flag,
    feature_set: text,
    features: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.Number }), { default: () => ({}), nullable: true }),
    addons: texts
  })
)

const decode = Schema.decodeUnknownOption(Claims)

const verifiedFrom = (payload: Uint8Array): Effect.Effect<VerifiedLicense, LicenseRefused> => {
  const decoded = Option.getOrUndefined(decode(new TextDecoder().decode(payload)))
  if (decoded === undefined) return new LicenseRefused({ reason: "its claims are not those of a license of version 3" })
  const { deployment_ids, exp, iat, jti, license_expires, nbf, version: _, ...claims } = decoded
  return Effect.succeed({
    uuid: Uuid.parse(jti),
    deployment_ids,
    claims: { ...claims, issued_at: iat * 1000, not_before: nbf * 1000, expires: exp * 1000, license_expires: license_expires * 1000 }
  })
}

const reasonOf = (error: unknown): string =>
  error instanceof errors.JWSSignatureVerificationFailed
    ? "its signature is wrong"
    : error instanceof errors.JOSEAlgNotAllowed
      ? "it is not signed with EdDSA"
      : error instanceof UnknownKey
        ? "it names no key of this deployment"
        : "it is not a signed token"

class UnknownKey extends Error {}

/** Entries `ID=KEY`, with Ed25519 public keys of 32 bytes in base64, as `--license-keys` takes them. */
export const licenseAuthority = (entries: ReadonlyArray<string>): Authority => {
  const keys = new Map(
    entries.map((entry) => {
      const at = entry.indexOf("=")
      const x = Buffer.from(entry.slice(at + 1), "base64").toString("base64url")
      return [entry.slice(0, at), { kty: "OKP", crv: "Ed25519", x }] as const
    })
  )
  const keyOf = ({ kid = "" }: { readonly kid?: string | undefined }) => {
    const key = keys.get(kid)
    if (key === undefined) throw new UnknownKey()
    return importJWK(key, "EdDSA")
  }
  return {
    inForce: makeGrantsInForce(),
    verify: (token) =>
      Effect.tryPromise({
        try: () => compactVerify(token, keyOf, { algorithms: ["EdDSA"] }),
        catch: (error) => new LicenseRefused({ reason: reasonOf(error) })
      }).pipe(Effect.flatMap(({ payload }) => verifiedFrom(payload)))
  }
}
