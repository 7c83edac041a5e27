/** Push messages to browsers: encrypted (RFC 8291), signed (RFC 8292), and handed to push services over HTTPS (RFC 8030). */
import { keyBytes, NotPushed, type PushKeys, type PushSender, type PushTarget } from "@atelier/core/notifications"
import { isPublicAddress } from "@atelier/core/platform"
import { Clock, Duration, Effect } from "effect"
import { createCipheriv, createECDH, createPrivateKey, type ECDH, hkdfSync, randomBytes, sign } from "node:crypto"
import { request } from "node:https"
import { isIP } from "node:net"
import { guardedLookup, type ResolveName } from "./guardedLookup.js"

const curve = "prime256v1"

/** Bytes of an encrypted record. A message is one record. */
const recordSize = 4_096

/** Seconds that the signature of a request is valid. */
const signatureLifetime = 12 * 3600

/** How long a push service may take. */
const timeout = Duration.seconds(10)

/** Statuses that say that no message will reach the subscription. */
const lasting: ReadonlySet<number> = new Set([400, 403, 404, 410])

const derived = (secret: Uint8Array, salt: Uint8Array, info: Uint8Array | string, length: number): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", secret, salt, info, length))

/** Encrypts a message for a browser. The key pair and the salt are new for each message. RFC 8291 §3.4. */
export const encrypted = (message: Uint8Array, to: PushTarget, own: ECDH, salt: Uint8Array): Uint8Array => {
  const [point, auth] = [keyBytes(to.p256dh_key) ?? new Uint8Array(), keyBytes(to.auth_key) ?? new Uint8Array()]
  const ownPoint = own.getPublicKey()
  const key = derived(own.computeSecret(point), auth, Buffer.concat([Buffer.from("WebPush: info\0"), point, ownPoint]), 32)
  const cipher = createCipheriv(
    "aes-128-gcm",
    derived(key, salt, "Content-Encoding: aes128gcm\0", 16),
    derived(key, salt, "Content-Encoding: nonce\0", 12)
  )
  const size = Buffer.alloc(4)
  size.writeUInt32BE(recordSize)
  // The byte 2 ends the last record
  const record = [cipher.update(message), cipher.update(Uint8Array.of(2)), cipher.final(), cipher.getAuthTag()]
  return Buffer.concat([salt, size, Uint8Array.of(ownPoint.length), ownPoint, ...record])
}

const base64url = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString("base64url")

/** The signature that tells a push service who sends. RFC 8292 §2. */
const authorization = (
  endpoint: URL,
  { private_key, public_key, subject }: PushKeys & { readonly subject: string },
  now: number
): string => {
  const point = Buffer.from(public_key, "base64url")
  const jwk = { kty: "EC", crv: "P-256", x: base64url(point.subarray(1, 33)), y: base64url(point.subarray(33)), d: private_key }
  const claims = { aud: endpoint.origin, exp: Math.floor(now / 1000) + signatureLifetime, sub: subject }
  const signed = [{ typ: "JWT", alg: "ES256" }, claims].map((part) => base64url(JSON.stringify(part))).join(".")
  const signature = sign("sha256", Buffer.from(signed), {
    key: createPrivateKey({ key: jwk, format: "jwk" }),
    dsaEncoding: "ieee-p1363"
  })
  return `vapid t=${signed}.${base64url(signature)}, k=${public_key}`
}

export interface PushSenderOptions {
  /** Whether an IP address may be called; those of the Internet unless given. */
  readonly isAllowed?: (address: string) => boolean
  /** How names become addresses; the system's way unless given. */
  readonly resolve?: ResolveName
  /** Authorities that vouch for push services, in PEM; the system's unless given. */
  readonly ca?: string
}

/** Answers the status of a push service. A redirect is not followed, and no connection is kept. */
const posted = (
  endpoint: URL,
  body: Uint8Array,
  headers: Readonly<Record<string, string>>,
  { ca, isAllowed = isPublicAddress, resolve: resolveName }: PushSenderOptions,
  signal: AbortSignal
): Promise<number> =>
  new Promise((done, fail) => {
    const host = endpoint.hostname.replace(/^\[|\]$/g, "")
    // An address is not looked up
    if (isIP(host) !== 0 && !isAllowed(host)) return fail(new Error("the host is an address that may not be called"))
    const sent = request(endpoint, {
      method: "POST",
      headers,
      lookup: guardedLookup(isAllowed, resolveName),
      agent: false,
      signal,
      ...(ca === undefined ? {} : { ca })
    })
    sent.on("error", fail)
    sent.on("response", (response) => {
      done(response.statusCode ?? 0)
      response.destroy()
    })
    sent.end(body)
  })

const pairOf = (own: ECDH): PushKeys => ({ public_key: base64url(own.getPublicKey()), private_key: base64url(padded(own.getPrivateKey())) })

/** The number of a key has leading zeros left out. */
const padded = (number: Uint8Array): Uint8Array => Buffer.concat([Buffer.alloc(32 - number.length), number])

const freshKeys = (): ECDH => {
  const own = createECDH(curve)
  own.generateKeys()
  return own
}

/** The sender of a process. It calls addresses of the Internet alone, also after DNS. */
export const make = (options: PushSenderOptions = {}): PushSender => ({
  generateKeys: Effect.sync(() => pairOf(freshKeys())),
  send: (to, message, as) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const endpoint = new URL(to.endpoint)
      const body = yield* Effect.try({
        try: () => encrypted(message, to, freshKeys(), randomBytes(16)),
        catch: () => new NotPushed({ reason: "the key of the subscription is not on the curve", isLasting: true })
      })
      const headers = {
        ttl: "0",
        "content-encoding": "aes128gcm",
        "content-type": "application/octet-stream",
        "content-length": String(body.length),
        authorization: authorization(endpoint, as, now)
      }
      const status = yield* Effect.tryPromise({
        try: (signal) => posted(endpoint, body, headers, options, signal),
        catch: (error) => new NotPushed({ reason: error instanceof Error ? error.message : String(error), isLasting: false })
      }).pipe(
        Effect.timeoutFail({
          duration: timeout,
          onTimeout: () => new NotPushed({ reason: "the push service takes too long", isLasting: false })
        })
      )
      if (status < 200 || status > 202) {
        return yield* new NotPushed({ reason: `the push service answered ${status}`, isLasting: lasting.has(status) })
      }
    })
})
