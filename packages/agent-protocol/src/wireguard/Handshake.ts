/**
 * The handshake of WireGuard, Noise_IKpsk2 without a shared key. Each side proves its private key, and both have two new keys afterwards. What does
 * not prove to be the peer's is undefined.
 */
import { concatenate } from "../ByteBuffer.js"
import type { KeyPair } from "../relay/Box.js"
import { derive, hash, hashLength, mac } from "./Blake2s.js"
import { type Ciphers, tagLength } from "./Ciphers.js"

export const MessageType = { initiation: 1, response: 2, cookie: 3, data: 4 } as const

export const initiationLength = 148
export const responseLength = 92

const keyLength = 32
const timestampLength = 12
const macLength = 16

const text = (characters: string): Uint8Array => new TextEncoder().encode(characters)

const construction = hash(text("Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s"))
const identified = hash(construction, text("WireGuard v1 zx2c4 Jason@zx2c4.com"))
const macLabel = text("mac1----")
const nothing = new Uint8Array(0)
const noSharedKey = new Uint8Array(hashLength)

/** The keys of a session that a handshake ends with, and the number by which each side names it. */
export interface SessionKeys {
  readonly ownIndex: number
  readonly peerIndex: number
  readonly sendKey: Uint8Array
  readonly receiveKey: Uint8Array
}

/** What an initiator keeps until the response arrives. */
export interface Initiation {
  readonly index: number
  readonly ephemeral: KeyPair
  readonly chain: Uint8Array
  readonly transcript: Uint8Array
}

/** An initiation that the peer has proved. */
export interface ReceivedInitiation {
  readonly peerIndex: number
  readonly peerEphemeral: Uint8Array
  /** Later than that of each earlier one: a copy of an old message is refused by it. */
  readonly timestamp: Uint8Array
  readonly chain: Uint8Array
  readonly transcript: Uint8Array
}

/** Both ends of a tunnel. */
export interface Ends {
  readonly own: KeyPair
  readonly peerKey: Uint8Array
}

const header = (type: number, ...indexes: ReadonlyArray<number>): Uint8Array => {
  const bytes = new Uint8Array(4 + 4 * indexes.length)
  bytes[0] = type
  const view = new DataView(bytes.buffer)
  indexes.forEach((index, position) => view.setUint32(4 + 4 * position, index, true))
  return bytes
}

export const indexAt = (message: Uint8Array, offset: number): number =>
  new DataView(message.buffer, message.byteOffset, message.length).getUint32(offset, true)

/** A message with the code that shows that its sender knows the receiver's public key, and with no cookie. */
const authenticated = (receiverKey: Uint8Array, body: Uint8Array): Uint8Array =>
  concatenate([body, mac(hash(macLabel, receiverKey), body), new Uint8Array(macLength)])

const isAuthentic = (ownKey: Uint8Array, message: Uint8Array): boolean => {
  const body = message.subarray(0, -2 * macLength)
  const expected = mac(hash(macLabel, ownKey), body)
  let difference = 0
  expected.forEach((byte, index) => (difference |= byte ^ (message[body.length + index] ?? 0)))
  return difference === 0
}

/** Mixes the secret of two keys into a chain. The second key encrypts what follows. */
const mixed = (
  ciphers: Ciphers,
  chain: Uint8Array,
  secretKey: Uint8Array,
  publicKey: Uint8Array
): readonly [chain: Uint8Array, key: Uint8Array] | undefined => {
  const secret = ciphers.agree(secretKey, publicKey)
  if (secret === undefined) return undefined
  const [next, key] = derive(chain, secret)
  return [next, key]
}

/** Begins a handshake. */
export const initiate = (
  ciphers: Ciphers,
  { own, peerKey }: Ends,
  index: number,
  timestamp: Uint8Array
): readonly [message: Uint8Array, initiation: Initiation] | undefined => {
  const ephemeral = ciphers.keyPair()
  const [begun] = derive(construction, ephemeral.publicKey)
  const afterEphemeral = hash(hash(identified, peerKey), ephemeral.publicKey)
  const first = mixed(ciphers, begun, ephemeral.secretKey, peerKey)
  if (first === undefined) return undefined
  const sealedKey = ciphers.seal(first[1], 0, own.publicKey, afterEphemeral)
  const afterKey = hash(afterEphemeral, sealedKey)
  const second = mixed(ciphers, first[0], own.secretKey, peerKey)
  if (second === undefined) return undefined
  const sealedTime = ciphers.seal(second[1], 0, timestamp, afterKey)
  const body = concatenate([header(MessageType.initiation, index), ephemeral.publicKey, sealedKey, sealedTime])
  return [authenticated(peerKey, body), { index, ephemeral, chain: second[0], transcript: hash(afterKey, sealedTime) }]
}

/** Reads an initiation of the peer. */
export const receiveInitiation = (ciphers: Ciphers, { own, peerKey }: Ends, message: Uint8Array): ReceivedInitiation | undefined => {
  if (message.length !== initiationLength || !isAuthentic(own.publicKey, message)) return undefined
  const peerEphemeral = message.slice(8, 8 + keyLength)
  const sealedKey = message.subarray(40, 40 + keyLength + tagLength)
  const sealedTime = message.subarray(88, 88 + timestampLength + tagLength)
  const [begun] = derive(construction, peerEphemeral)
  const afterEphemeral = hash(hash(identified, own.publicKey), peerEphemeral)
  const first = mixed(ciphers, begun, own.secretKey, peerEphemeral)
  const key = first && ciphers.open(first[1], 0, sealedKey, afterEphemeral)
  if (first === undefined || key === undefined || !key.every((byte, index) => byte === peerKey[index])) return undefined
  const afterKey = hash(afterEphemeral, sealedKey)
  const second = mixed(ciphers, first[0], own.secretKey, peerKey)
  const timestamp = second && ciphers.open(second[1], 0, sealedTime, afterKey)
  if (second === undefined || timestamp === undefined) return undefined
  return { peerIndex: indexAt(message, 4), peerEphemeral, timestamp, chain: second[0], transcript: hash(afterKey, sealedTime) }
}

/** Answers an initiation. */
export const respond = (
  ciphers: Ciphers,
  { peerKey }: Ends,
  index: number,
  { chain, peerEphemeral, peerIndex, transcript }: ReceivedInitiation
): readonly [message: Uint8Array, keys: SessionKeys] | undefined => {
  const ephemeral = ciphers.keyPair()
  const [begun] = derive(chain, ephemeral.publicKey)
  const afterEphemeral = hash(transcript, ephemeral.publicKey)
  const first = mixed(ciphers, begun, ephemeral.secretKey, peerEphemeral)
  const second = first && mixed(ciphers, first[0], ephemeral.secretKey, peerKey)
  if (second === undefined) return undefined
  const [last, hidden, key] = derive(second[0], noSharedKey)
  const sealed = ciphers.seal(key, 0, nothing, hash(afterEphemeral, hidden))
  const [receiveKey, sendKey] = derive(last, nothing)
  const body = concatenate([header(MessageType.response, index, peerIndex), ephemeral.publicKey, sealed])
  return [authenticated(peerKey, body), { ownIndex: index, peerIndex, sendKey, receiveKey }]
}

/** Reads the answer to an initiation. */
export const receiveResponse = (
  ciphers: Ciphers,
  { own }: Ends,
  { chain, ephemeral, index, transcript }: Initiation,
  message: Uint8Array
): SessionKeys | undefined => {
  if (message.length !== responseLength || indexAt(message, 8) !== index || !isAuthentic(own.publicKey, message)) return undefined
  const peerEphemeral = message.slice(12, 12 + keyLength)
  const [begun] = derive(chain, peerEphemeral)
  const afterEphemeral = hash(transcript, peerEphemeral)
  const first = mixed(ciphers, begun, ephemeral.secretKey, peerEphemeral)
  const second = first && mixed(ciphers, first[0], own.secretKey, peerEphemeral)
  if (second === undefined) return undefined
  const [last, hidden, key] = derive(second[0], noSharedKey)
  if (ciphers.open(key, 0, message.subarray(44, 44 + tagLength), hash(afterEphemeral, hidden)) === undefined) return undefined
  const [sendKey, receiveKey] = derive(last, nothing)
  return { ownIndex: index, peerIndex: indexAt(message, 4), sendKey, receiveKey }
}
