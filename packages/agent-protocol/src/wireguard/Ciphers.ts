/** The primitives of WireGuard that the runtime's own library has. */
import type { KeyPair } from "../relay/Box.js"

export interface Ciphers {
  /** Makes a key pair of X25519. */
  readonly keyPair: () => KeyPair
  /** The secret that X25519 gives two keys; undefined where it would be zero, because the public key has a low order. */
  readonly agree: (secretKey: Uint8Array, publicKey: Uint8Array) => Uint8Array | undefined
  /** Encrypts with ChaCha20-Poly1305. The nonce is four zero bytes and the counter in eight, the lowest first. The tag is at the end. */
  readonly seal: (key: Uint8Array, counter: number, plain: Uint8Array, additional: Uint8Array) => Uint8Array
  /** Reverses `seal`; undefined where the tag is wrong. */
  readonly open: (key: Uint8Array, counter: number, sealed: Uint8Array, additional: Uint8Array) => Uint8Array | undefined
}

/** Bytes of the tag of a sealed text. */
export const tagLength = 16
