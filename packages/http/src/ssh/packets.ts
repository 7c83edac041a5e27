/**
 * Leads what two SSH connections carry from one to the other. Each connection keeps its own keys; the packets above them (RFC 4254), with the numbers
 * and the windows of channels, are the same on both. So the gateway knows nothing of sessions and forwards, and buffers no more than their windows.
 */
import type { Duplex } from "node:stream"

/** The first number of a packet that belongs to the connection protocol. RFC 4251 §7. */
const firstNumber = 80

/** Bytes that wait for a connection above which the other is not read. */
const maximumWaiting = 1024 * 1024

/** Parts of the library that it does not describe: how it takes a packet apart, and how it sends one. */
interface Protocol {
  _onPayload: (payload: Buffer) => unknown
  _onPacket: () => void
  _decipher: { _onPayload: (payload: Buffer) => unknown }
  readonly _packetRW: {
    readonly write: {
      readonly allocStart: number
      readonly alloc: (size: number) => Buffer
      readonly finalize: (packet: Buffer) => Buffer
    }
  }
  readonly _cipher: { readonly encrypt: (packet: Buffer) => void }
  /** Set while keys are exchanged. Packets that are sent during an exchange wait. */
  readonly _kexinit: unknown
  _queue: Array<Buffer> | undefined
}

/** One of the two connections. */
export interface Side {
  /** The library's connection. */
  readonly connection: object
  readonly socket: Duplex
}

const protocolOf = ({ connection }: Side): Protocol => (connection as { readonly _protocol: Protocol })._protocol

const send = (protocol: Protocol, payload: Buffer): void => {
  const { write } = protocol._packetRW
  const packet = write.alloc(payload.length)
  packet.set(payload, write.allocStart)
  const finished = write.finalize(packet)
  if (protocol._kexinit === undefined) protocol._cipher.encrypt(finished)
  else (protocol._queue ??= []).push(finished)
}

const lead = (from: Side, to: Side): void => {
  const [source, target] = [protocolOf(from), protocolOf(to)]
  const usual = source._onPayload
  let isPaused = false
  const resume = (): void => {
    isPaused = false
    from.socket.resume()
  }
  const take = (payload: Buffer): unknown => {
    if ((payload[0] ?? 0) < firstNumber) return usual(payload)
    source._onPacket()
    send(target, payload)
    if (to.socket.writableLength > maximumWaiting && !isPaused) {
      isPaused = true
      from.socket.pause()
      to.socket.once("drain", resume)
    }
    return undefined
  }
  // The next keys take it from the protocol
  source._onPayload = take
  source._decipher._onPayload = take
}

/** Leads the packets of both connections, which have been authenticated and have no channel. */
export const leadPackets = (one: Side, other: Side): void => {
  lead(one, other)
  lead(other, one)
}
