import { Loans } from "@atelier/agent-protocol"
import { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { TLSSocket } from "node:tls"

/** Memory into which all connections read that have none of their own. Bytes are copied out of it before the next read. */
const landing = new Uint8Array(Loans.slabBytes)

/** What Node's sockets have for their option `onread`, which those that a server accepts cannot be given. */
interface Internals {
  readonly useUserBuffer: (buffer: Uint8Array) => void
  readonly buffer: symbol
  readonly onRead: symbol
  readonly nextBuffer: symbol
}

const internalsOf = (socket: Socket): Internals | undefined => {
  const symbols = new Map(Object.getOwnPropertySymbols(socket).map((symbol) => [symbol.description, symbol]))
  const [buffer, onRead, nextBuffer] = ["kBuffer", "kBufferCb", "kBufferGen"].map((name) => symbols.get(name))
  const handle: unknown = Reflect.get(socket, "_handle")
  if (typeof handle !== "object" || handle === null || buffer === undefined || onRead === undefined || nextBuffer === undefined)
    return undefined
  const useUserBuffer: unknown = Reflect.get(handle, "useUserBuffer")
  // The maker of the socket may read it so already
  if (typeof useUserBuffer !== "function" || [buffer, onRead, nextBuffer].some((symbol) => Reflect.get(socket, symbol) !== null))
    return undefined
  return { useUserBuffer: (bytes) => useUserBuffer.call(handle, bytes), buffer, onRead, nextBuffer }
}

/** Reads one connection. */
class LentReader {
  /** Memory of this connection alone, while it brings more than one read takes. */
  private own: Uint8Array | undefined
  private isWatched = false

  constructor(
    private readonly socket: Socket,
    private readonly take: (bytes: Uint8Array) => void
  ) {}

  /** Takes what was read. Returns whether to read more. */
  read(count: number, memory: Uint8Array): boolean {
    const { socket } = this
    this.own = undefined
    const isFull = count === Loans.slabBytes
    const bytes = memory === landing ? landed(count) : lent(memory, count)
    // Behind what was read before, and not before the reader goes on
    if (socket.readableLength > 0 || socket.isPaused()) socket.push(Buffer.from(bytes))
    else this.pass(bytes)
    if (isFull && !socket.destroyed) this.readOn()
    return !socket.isPaused()
  }

  private pass(bytes: Uint8Array): void {
    try {
      this.take(bytes)
    } catch (error) {
      // Node would go on reading into memory that is lent
      this.socket.destroy()
      throw error
    }
  }

  /** There is more to be read, probably. */
  private readOn(): void {
    this.own = Loans.take()
    if (this.own === undefined || this.isWatched) return
    this.isWatched = true
    this.socket.once("close", () => this.end())
  }

  /** Where the next bytes are read into. */
  get next(): Uint8Array {
    return this.own ?? landing
  }

  private end(): void {
    if (this.own !== undefined) lent(this.own, 0)
    this.own = undefined
  }
}

const lent = (slab: Uint8Array, count: number): Uint8Array => {
  Loans.lend(slab, count)
  return slab.subarray(0, count)
}

/** A copy of what is in the shared memory. */
const landed = (count: number): Uint8Array => {
  const slab = count === Loans.slabBytes ? Loans.take() : undefined
  if (slab === undefined) return landing.slice(0, count)
  slab.set(landing)
  return lent(slab, count)
}

/**
 * Gives what a connection brings to `take`, in place of its `data` events, in memory that is used again once it is given back (`Loans`). Returns whether it does: a connection
 * with TLS, or one of a Node with other internals, goes on with its events.
 */
export const readLent = (connection: Duplex, take: (bytes: Uint8Array) => void): boolean => {
  if (!(connection instanceof Socket) || connection instanceof TLSSocket) return false
  const internals = internalsOf(connection)
  if (internals === undefined) return false
  const reader = new LentReader(connection, take)
  Reflect.set(connection, internals.buffer, landing)
  Reflect.set(connection, internals.onRead, (count: number, memory: Uint8Array) => reader.read(count, memory))
  Reflect.set(connection, internals.nextBuffer, () => reader.next)
  internals.useUserBuffer(landing)
  return true
}
