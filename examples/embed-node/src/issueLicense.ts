/**
 * Issues licenses for tests and sales. The private key stays with the vendor; the deployment is given the public one.
 *
 *   node dist/issueLicense.js key                        prints a new private key, and --license-keys for it
 *   node dist/issueLicense.js issue KEY_FILE [CLAIMS]    prints a license; CLAIMS are JSON that replaces the usual claims
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto"
import { readFileSync } from "node:fs"
import { pathToFileURL } from "node:url"

/** A key of a vendor. The id tells deployments which of their keys verifies a license. */
export interface IssuerKey {
  readonly id: string
  readonly key: KeyObject
}

/** Returns a new Ed25519 key. */
export const newKey = (id: string): IssuerKey => ({ id, key: generateKeyPairSync("ed25519").privateKey })

/** Returns the entry of `--license-keys` that verifies a key's licenses. */
export const verificationKey = ({ id, key }: IssuerKey): string =>
  `${id}=${Buffer.from(createPublicKey(key).export({ format: "jwk" }).x ?? "", "base64url").toString("base64")}`

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url")

/** Returns a license: for a year with a month of grace and every feature, unless the claims say otherwise. Times are Unix seconds. */
export const issueLicense = ({ id, key }: IssuerKey, claims: Readonly<Record<string, unknown>> = {}, now = Date.now()): string => {
  const seconds = Math.floor(now / 1000)
  const day = 24 * 60 * 60
  const usual = {
    version: 3,
    jti: randomUUID(),
    iat: seconds,
    nbf: seconds,
    license_expires: seconds + 365 * day,
    exp: seconds + 395 * day,
    account_type: "test",
    account_id: "test",
    feature_set: "premium",
    features: {}
  }
  const signed = `${part({ alg: "EdDSA", typ: "JWT", kid: id })}.${part({ ...usual, ...claims })}`
  return `${signed}.${sign(null, Buffer.from(signed), key).toString("base64url")}`
}

const keyId = "vendor"

const main = ([command, file, claims = "{}"]: ReadonlyArray<string>): string => {
  if (command === "key") {
    const made = newKey(keyId)
    return `${made.key.export({ type: "pkcs8", format: "pem" }).toString()}--license-keys ${verificationKey(made)}`
  }
  if (command !== "issue" || file === undefined) return "usage: issueLicense.js key | issueLicense.js issue KEY_FILE [CLAIMS]"
  return issueLicense({ id: keyId, key: createPrivateKey(readFileSync(file)) }, JSON.parse(claims) as Record<string, unknown>)
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  process.stdout.write(`${main(process.argv.slice(2))}\n`)
