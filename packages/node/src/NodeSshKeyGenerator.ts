import { SshKeyGenerator } from "@atelier/core/identity"
import { Effect, Layer, Redacted } from "effect"
import { generateKeyPair, type KeyObject } from "node:crypto"
import { promisify } from "node:util"
import type sshpk from "sshpk"

/** Loaded with the first key. */
const loadLibrary = async () => (await import("sshpk")).default

const generate = promisify(generateKeyPair)

const keyPair = (algorithm: "ed25519" | "ecdsa" | "rsa4096"): Promise<{ readonly privateKey: KeyObject }> =>
  algorithm === "ed25519"
    ? generate("ed25519")
    : algorithm === "ecdsa"
      ? generate("ec", { namedCurve: "P-256" })
      : generate("rsa", { modulusLength: 4096 })

/** The stored parts of a key. The library would calculate the public part of an Ed25519 key by itself, for 15 ms of the event loop. */
const parsed = async (algorithm: "ed25519" | "ecdsa" | "rsa4096", privateKey: KeyObject): Promise<sshpk.PrivateKey> => {
  const { parsePrivateKey, PrivateKey } = await loadLibrary()
  if (algorithm !== "ed25519") return parsePrivateKey(privateKey.export({ type: "pkcs8", format: "pem" }), "pem")
  const { d = "", x = "" } = privateKey.export({ format: "jwk" })
  return new PrivateKey({
    type: "ed25519",
    parts: [
      { name: "A", data: Buffer.from(x, "base64url") },
      { name: "k", data: Buffer.from(d, "base64url") }
    ]
  })
}

/** The form git and OpenSSH have read for longest, by algorithm. */
const exported = (algorithm: "ed25519" | "ecdsa" | "rsa4096", privateKey: KeyObject, key: sshpk.PrivateKey): string =>
  algorithm === "ed25519"
    ? key.toString("openssh")
    : privateKey.export({ type: algorithm === "ecdsa" ? "sec1" : "pkcs1", format: "pem" }).toString()

/** On Node's key generation, off the event loop; one at a time, as an RSA key takes one of its few threads for seconds. */
export const layer = Layer.sync(SshKeyGenerator, () => {
  const turn = Effect.unsafeMakeSemaphore(1)
  return {
    generate: (algorithm) =>
      turn.withPermits(1)(
        Effect.promise(async () => {
          const { privateKey } = await keyPair(algorithm)
          const pair = await parsed(algorithm, privateKey)
          pair.comment = ""
          const [type = "", key = ""] = pair.toPublic().toString("ssh").split(" ")
          return { public_key: `${type} ${key}\n`, private_key: Redacted.make(exported(algorithm, privateKey, pair)) }
        })
      )
  }
})
