/** The primitives of WireGuard, of Node's own library. */
import type { WireGuard } from "@atelier/agent-protocol"
import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject
} from "node:crypto"

const algorithm = "chacha20-poly1305"
const tagLength = 16

/** What precedes the 32 bytes of a key of X25519 in DER (RFC 8410). */
const privatePrefix = Buffer.from("302e020100300506032b656e04220420", "hex")
const publicPrefix = Buffer.from("302a300506032b656e032100", "hex")

const privateKey = (bytes: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.concat([privatePrefix, bytes]), format: "der", type: "pkcs8" })

const publicKey = (bytes: Uint8Array): KeyObject =>
  createPublicKey({ key: Buffer.concat([publicPrefix, bytes]), format: "der", type: "spki" })

const nonceOf = (counter: number): Buffer => {
  const nonce = Buffer.alloc(12)
  nonce.writeUInt32LE(counter % 2 ** 32, 4)
  nonce.writeUInt32LE(Math.floor(counter / 2 ** 32), 8)
  return nonce
}

export const nodeCiphers: WireGuard.Ciphers = {
  keyPair: () => {
    const pair = generateKeyPairSync("x25519")
    return {
      publicKey: new Uint8Array(pair.publicKey.export({ format: "der", type: "spki" }).subarray(publicPrefix.length)),
      secretKey: new Uint8Array(pair.privateKey.export({ format: "der", type: "pkcs8" }).subarray(privatePrefix.length))
    }
  },
  agree: (secret, other) => {
    try {
      return diffieHellman({ privateKey: privateKey(secret), publicKey: publicKey(other) })
    } catch {
      // A key of a low order, which the library refuses, or one of another length
      return undefined
    }
  },
  seal: (key, counter, plain, additional) => {
    const cipher = createCipheriv(algorithm, key, nonceOf(counter), { authTagLength: tagLength })
    cipher.setAAD(additional, { plaintextLength: plain.length })
    const sealed = cipher.update(plain)
    cipher.final()
    return Buffer.concat([sealed, cipher.getAuthTag()])
  },
  open: (key, counter, sealed, additional) => {
    const length = sealed.length - tagLength
    if (length < 0) return undefined
    const decipher = createDecipheriv(algorithm, key, nonceOf(counter), { authTagLength: tagLength })
    decipher.setAAD(additional, { plaintextLength: length })
    decipher.setAuthTag(sealed.subarray(length))
    const plain = decipher.update(sealed.subarray(0, length))
    try {
      decipher.final()
      return plain
    } catch {
      return undefined
    }
  }
}
