/** The handshake of the relay: each side proves with NaCl boxes that it has the private key of the key that it names. agents-and-apps.md §12. */
import { Option, Schema } from "effect"
import nacl from "tweetnacl"
import { keyLength } from "./Frame.js"

const { box } = nacl

export const nonceLength = box.nonceLength

/** The protocol version that the relay names. Clients' versions are not looked at. */
const version = new TextEncoder().encode('{"version":2}')

const ClientInfo = Schema.parseJson(Schema.NullOr(Schema.Record({ key: Schema.String, value: Schema.Unknown })))
const decodeClientInfo = Schema.decodeUnknownOption(ClientInfo)

export interface KeyPair {
  readonly publicKey: Uint8Array
  readonly secretKey: Uint8Array
}

/** The pair of keys with this private key of 32 random bytes. */
export const keyPairOf = (secretKey: Uint8Array): KeyPair => box.keyPair.fromSecretKey(secretKey)

/** A client that has proved its key. */
export interface ProvenClient {
  readonly publicKey: Uint8Array
  /** The key that seals what the two sides say to each other. */
  readonly shared: Uint8Array
}

/** Opens the payload of a ClientInfo. Undefined where its box does not open, or holds no JSON object. */
export const openClientInfo = (payload: Uint8Array, secretKey: Uint8Array): ProvenClient | undefined => {
  // A copy: the payload's memory may be a large chunk
  const publicKey = payload.slice(0, keyLength)
  const shared = box.before(publicKey, secretKey)
  const opened = box.open.after(payload.subarray(keyLength + nonceLength), payload.subarray(keyLength, keyLength + nonceLength), shared)
  if (opened === null) return undefined
  return Option.match(decodeClientInfo(new TextDecoder().decode(opened)), {
    onNone: () => undefined,
    onSome: () => ({ publicKey, shared })
  })
}

/** The payload of the ServerInfo that answers a client: the nonce of 24 random bytes and the box. */
export const sealServerInfo = (shared: Uint8Array, nonce: Uint8Array): readonly [nonce: Uint8Array, box: Uint8Array] => [
  nonce,
  box.after(version, nonce, shared)
]

/** The payload of the ClientInfo of a client with these keys: its key, the nonce of 24 random bytes and the box. */
export const sealClientInfo = (
  text: string,
  nonce: Uint8Array,
  relayKey: Uint8Array,
  { publicKey, secretKey }: KeyPair
): readonly [key: Uint8Array, nonce: Uint8Array, box: Uint8Array] => [
  publicKey,
  nonce,
  box(new TextEncoder().encode(text), nonce, relayKey, secretKey)
]

/** What the payload of a ServerInfo says to the client with this private key. Undefined where its box does not open. */
export const openServerInfo = (payload: Uint8Array, relayKey: Uint8Array, secretKey: Uint8Array): string | undefined => {
  const opened = box.open(payload.subarray(nonceLength), payload.subarray(0, nonceLength), relayKey, secretKey)
  return opened === null ? undefined : new TextDecoder().decode(opened)
}
