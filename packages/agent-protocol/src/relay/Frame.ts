/** Frames of the relay: a byte of type, four bytes of length (big endian), and the payload. agents-and-apps.md §12. */

export const FrameType = {
  ServerKey: 0x01,
  ClientInfo: 0x02,
  ServerInfo: 0x03,
  SendPacket: 0x04,
  RecvPacket: 0x05,
  KeepAlive: 0x06,
  NotePreferred: 0x07,
  PeerGone: 0x08,
  PeerPresent: 0x09,
  ForwardPacket: 0x0a,
  WatchConns: 0x10,
  ClosePeer: 0x11,
  Ping: 0x12,
  Pong: 0x13
} as const

/** Bytes of a frame's type and length. */
export const headerLength = 5

/** Bytes of a peer's public key. */
export const keyLength = 32

/** Bytes of the largest packet. */
export const maximumPacket = 65_536

/** Bytes of the largest payload that a relay accepts: that of a ClientInfo. */
export const maximumPayload = 256 * 1024

/** The first bytes of the payload of a ServerKey. */
export const magic = Uint8Array.of(0x44, 0x45, 0x52, 0x50, 0xf0, 0x9f, 0x94, 0x91)

/** The bytes that a Pong repeats of a Ping. */
export const pingLength = 8

/** Why a PeerGone was sent. */
export const PeerGoneReason = { disconnected: 0, notHere: 1 } as const

export type PeerGoneReason = (typeof PeerGoneReason)[keyof typeof PeerGoneReason]

/** A whole frame whose payload is the given parts, one behind the other. */
export const make = (type: number, ...payload: ReadonlyArray<Uint8Array>): Uint8Array => {
  const length = payload.reduce((sum, { length }) => sum + length, 0)
  const frame = new Uint8Array(headerLength + length)
  frame[0] = type
  new DataView(frame.buffer).setUint32(1, length)
  let offset = headerLength
  for (const part of payload) {
    frame.set(part, offset)
    offset += part.length
  }
  return frame
}

export const typeOf = (frame: Uint8Array): number => frame[0] ?? 0

export const payloadOf = (frame: Uint8Array): Uint8Array => frame.subarray(headerLength)

/** The key that a SendPacket, RecvPacket or PeerGone begins with. */
export const keyOf = (frame: Uint8Array): Uint8Array => frame.subarray(headerLength, headerLength + keyLength)

/**
 * Turns a SendPacket into the RecvPacket that its destination gets, in the same memory: the source's key takes the place of the
 * destination's, so that the packet is not copied.
 */
export const toRecvPacket = (sendPacket: Uint8Array, source: Uint8Array): Uint8Array => {
  sendPacket[0] = FrameType.RecvPacket
  sendPacket.set(source, headerLength)
  return sendPacket
}

const discoMagic = Uint8Array.of(0x54, 0x53, 0xf0, 0x9f, 0x92, 0xac)

/** Bytes of the smallest disco packet: the magic, the sender's key, a nonce. */
const minimumDisco = 62

/** Whether the packet of a SendPacket or RecvPacket is one with which peers look for a direct way to each other. */
export const isDisco = (frame: Uint8Array): boolean => {
  const start = headerLength + keyLength
  if (frame.length < start + minimumDisco) return false
  for (let index = 0; index < discoMagic.length; index++) if (frame[start + index] !== discoMagic[index]) return false
  return true
}

/** What a relay does with a client's frame of some type: it reads payloads within these lengths, passes over the frame, or refuses it. */
export type Treatment = { readonly minimum: number; readonly maximum: number } | "skip" | "refuse"

const clientInfo: Treatment = { minimum: 56, maximum: maximumPayload }

/** The first frame of a client has to be its ClientInfo. */
export const beforeHandshake = (type: number): Treatment => (type === FrameType.ClientInfo ? clientInfo : "refuse")

/** Frames of the other types are passed over, so that clients may be newer. */
const treatments: ReadonlyMap<number, Treatment> = new Map<number, Treatment>([
  [FrameType.SendPacket, { minimum: keyLength, maximum: keyLength + maximumPacket }],
  [FrameType.Ping, { minimum: pingLength, maximum: 1000 }],
  [FrameType.NotePreferred, { minimum: 1, maximum: 1 }],
  // These are for other relays
  [FrameType.ForwardPacket, "refuse"],
  [FrameType.WatchConns, "refuse"],
  [FrameType.ClosePeer, "refuse"]
])

export const afterHandshake = (type: number): Treatment => treatments.get(type) ?? "skip"
