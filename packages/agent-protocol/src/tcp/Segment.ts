/** TCP segments (RFC 9293) in packets of IPv6 (RFC 8200). */

export const Flag = { fin: 1, syn: 2, rst: 4, psh: 8, ack: 16 } as const

const ipLength = 40
const tcpLength = 20
const tcp = 6
const addressLength = 16

/** Bytes of the largest packet: every link of IPv6 carries it. */
export const maximumPacket = 1280

/** Bytes of data in the largest segment. */
export const maximumSegment = maximumPacket - ipLength - tcpLength

export interface Segment {
  readonly sourcePort: number
  readonly destinationPort: number
  readonly sequence: number
  readonly acknowledgment: number
  readonly flags: number
  /** As on the wire, before it is scaled. */
  readonly window: number
  readonly data: Uint8Array
  /** Options of a segment that opens a connection. */
  readonly maximumSegment?: number | undefined
  readonly windowScale?: number | undefined
}

/** Two addresses of 16 bytes. */
export interface Route {
  readonly source: Uint8Array
  readonly destination: Uint8Array
}

/** The sum of RFC 1071 over the segment and the pseudo-header: 0 where a checksum inside is right. */
const checksum = (packet: Uint8Array, view: DataView): number => {
  const end = packet.length
  let sum = tcp + end - ipLength
  // The addresses lie before the segment
  for (let at = ipLength - 2 * addressLength; at + 1 < end; at += 2) sum += view.getUint16(at)
  if (end % 2 === 1) sum += (packet[end - 1] ?? 0) << 8
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16)
  return ~sum & 0xffff
}

/** Bytes of a packet with a segment. */
export const encode = ({ destination, source }: Route, segment: Segment): Uint8Array => {
  const { acknowledgment, data, destinationPort, flags, sequence, sourcePort, window } = segment
  const isOpening = segment.maximumSegment !== undefined && segment.windowScale !== undefined
  const headerLength = tcpLength + (isOpening ? 8 : 0)
  const packet = new Uint8Array(ipLength + headerLength + data.length)
  const view = new DataView(packet.buffer)
  packet[0] = 0x60
  view.setUint16(4, headerLength + data.length)
  packet[6] = tcp
  packet[7] = 64
  packet.set(source, 8)
  packet.set(destination, 24)
  view.setUint16(40, sourcePort)
  view.setUint16(42, destinationPort)
  view.setUint32(44, sequence)
  view.setUint32(48, acknowledgment)
  packet[52] = (headerLength / 4) << 4
  packet[53] = flags
  view.setUint16(54, window)
  if (isOpening) {
    // The largest segment; the scale of the window, after an option without effect
    packet.set([2, 4], 60)
    view.setUint16(62, segment.maximumSegment)
    packet.set([1, 3, 3, segment.windowScale], 64)
  }
  packet.set(data, ipLength + headerLength)
  view.setUint16(56, checksum(packet, view))
  return packet
}

/** Reads the options of a header. What follows a broken one is passed over. */
const optionsOf = (options: Uint8Array): Pick<Segment, "maximumSegment" | "windowScale"> => {
  const found: { maximumSegment?: number; windowScale?: number } = {}
  let at = 0
  while (at < options.length) {
    const kind = options[at]
    if (kind === 0) break
    if (kind === 1) {
      at += 1
      continue
    }
    const length = options[at + 1] ?? 0
    if (length < 2 || at + length > options.length) break
    if (kind === 2 && length === 4) found.maximumSegment = ((options[at + 2] ?? 0) << 8) | (options[at + 3] ?? 0)
    if (kind === 3 && length === 3) found.windowScale = options[at + 2] ?? 0
    at += length
  }
  return found
}

const isEqual = (one: Uint8Array, other: Uint8Array): boolean => one.every((byte, index) => byte === other[index])

/**
 * Reads a packet that is on this route; undefined for one that is not, that is no TCP, that is too large, or that is broken. Bytes behind it are
 * padding. The data is a view of the packet: the memory of a packet lasts as long as any of its data.
 */
export const decode = ({ destination, source }: Route, padded: Uint8Array): Segment | undefined => {
  if (padded.length < ipLength + tcpLength || padded.length > maximumPacket || (padded[0] ?? 0) >>> 4 !== 6 || padded[6] !== tcp)
    return undefined
  const length = ipLength + (((padded[4] ?? 0) << 8) | (padded[5] ?? 0))
  if (length > padded.length || length < ipLength + tcpLength) return undefined
  const packet = padded.subarray(0, length)
  const view = new DataView(packet.buffer, packet.byteOffset, length)
  if (!isEqual(packet.subarray(8, 24), source) || !isEqual(packet.subarray(24, 40), destination)) return undefined
  const headerLength = ((packet[52] ?? 0) >>> 4) * 4
  if (headerLength < tcpLength || ipLength + headerLength > length || checksum(packet, view) !== 0) return undefined
  const flags = packet[53] ?? 0
  return {
    sourcePort: view.getUint16(40),
    destinationPort: view.getUint16(42),
    sequence: view.getUint32(44),
    acknowledgment: view.getUint32(48),
    flags,
    window: view.getUint16(54),
    data: packet.subarray(ipLength + headerLength),
    ...((flags & Flag.syn) === 0 ? {} : optionsOf(packet.subarray(ipLength + tcpLength, ipLength + headerLength)))
  }
}
