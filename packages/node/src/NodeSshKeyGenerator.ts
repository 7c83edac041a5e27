import { SshKeyGenerator } from "@atelier/core/identity"
import { service } from "@atelier/core/platform"
import { Effect, Redacted } from "effect"
import { generateKeyPair, type JsonWebKey, type KeyObject, randomBytes } from "node:crypto"
import { promisify } from "node:util"

type Algorithm = "ed25519" | "ecdsa" | "rsa4096"

const generate = promisify(generateKeyPair)

const keyPair = (algorithm: Algorithm): Promise<{ readonly privateKey: KeyObject }> =>
  algorithm === "ed25519"
    ? generate("ed25519")
    : algorithm === "ecdsa"
      ? generate("ec", { namedCurve: "P-256" })
      : generate("rsa", { modulusLength: 4096 })

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** The type `string` of SSH: a length, and so many bytes. RFC 4251 §5. */
const string = (value: Buffer | string): Buffer => {
  const bytes = Buffer.from(value)
  return Buffer.concat([uint32(bytes.length), bytes])
}

/** The type `mpint` of a positive number: a first byte of zero keeps it positive. RFC 4251 §5. */
const mpint = (value: Buffer): Buffer => string((value[0] ?? 0) < 0x80 ? value : Buffer.concat([Buffer.alloc(1), value]))

const partsOf = (key: JsonWebKey) => (name: "d" | "e" | "n" | "x" | "y") => Buffer.from(key[name] ?? "", "base64url")

/** A public key as SSH sends it, with its type. RFC 4253 §6.6, RFC 5656 §3.1, RFC 8709 §4. */
const publicKey = (algorithm: Algorithm, key: JsonWebKey): { readonly type: string; readonly blob: Buffer } => {
  const part = partsOf(key)
  const of = (type: string, ...parts: ReadonlyArray<Buffer>) => ({ type, blob: Buffer.concat([string(type), ...parts]) })
  if (algorithm === "ed25519") return of("ssh-ed25519", string(part("x")))
  if (algorithm === "rsa4096") return of("ssh-rsa", mpint(part("e")), mpint(part("n")))
  return of("ecdsa-sha2-nistp256", string("nistp256"), string(Buffer.concat([Buffer.from([4]), part("x"), part("y")])))
}

/** An Ed25519 key without a password in the one form of it that OpenSSH reads: openssh-key-v1, of OpenSSH's PROTOCOL.key. */
const opensshPrivateKey = (key: JsonWebKey): string => {
  const part = partsOf(key)
  const { blob, type } = publicKey("ed25519", key)
  // The same number twice tells readers that they have decrypted it
  const check = randomBytes(4)
  const comment = ""
  const section = [check, check, string(type), string(part("x")), string(Buffer.concat([part("d"), part("x")])), string(comment)]
  const length = Buffer.concat(section).length
  const padding = Buffer.from(Array.from({ length: (8 - (length % 8)) % 8 }, (_, index) => index + 1))
  const none = [string("none"), string("none"), string("")]
  const whole = Buffer.concat([
    Buffer.from("openssh-key-v1\0"),
    ...none,
    uint32(1),
    string(blob),
    string(Buffer.concat([...section, padding]))
  ])
  const lines = whole.toString("base64").match(/.{1,70}/g) ?? []
  return ["-----BEGIN OPENSSH PRIVATE KEY-----", ...lines, "-----END OPENSSH PRIVATE KEY-----", ""].join("\n")
}

/** The form git and OpenSSH have read for longest, by algorithm. */
const exported = (algorithm: Algorithm, privateKey: KeyObject, key: JsonWebKey): string =>
  algorithm === "ed25519"
    ? opensshPrivateKey(key)
    : privateKey.export({ type: algorithm === "ecdsa" ? "sec1" : "pkcs1", format: "pem" }).toString()

/** On Node's key generation, off the event loop; one at a time, as an RSA key takes one of its few threads for seconds. */
export const layer = service(
  SshKeyGenerator,
  Effect.sync(() => {
    const turn = Effect.unsafeMakeSemaphore(1)
    return {
      generate: (algorithm) =>
        turn.withPermits(1)(
          Effect.promise(async () => {
            const { privateKey } = await keyPair(algorithm)
            const key = privateKey.export({ format: "jwk" })
            const { blob, type } = publicKey(algorithm, key)
            return {
              public_key: `${type} ${blob.toString("base64")}\n`,
              private_key: Redacted.make(exported(algorithm, privateKey, key))
            }
          })
        )
    }
  })
)
