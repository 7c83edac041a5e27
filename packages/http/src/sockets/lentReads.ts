import { Loans } from "@atelier/agent-protocol"
import { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { TLSSocket } from "node:tls"

/** Memory into which all connections read that have none of their own. Bytes are copied out of it before the next read. */
const landing = new Uint8Array(Loans.slabBytes)

/** Bytes for which memory is lent. Fewer are copied, since they would keep all of it. */
const lentBytes = 16 * 1024

/** Reads that libuv makes of a connection before it turns to others. */
const readsOfTurn = 32

type OnHandleRead = (bytes: ArrayBuffer | undefined) => unknown

/** What Node's sockets have for their option `onread`, which those that a server accepts cannot be given. */
interface Internals {
  readonly useUserBuffer: (buffer: Uint8Array) => void
  /** Has `waits` called when a read has brought nothing, or the end. It returns where the next bytes are read into. */
  readonly onWait: (waits: () => Uint8Array) => void
  readonly buffer: symbol
  readonly onRead: symbol
  readonly nextBuffer: symbol
}

/** Apart from what closures of the connection keep. */
const symbolsOf = (socket: Socket, names: ReadonlyArray<string>): ReadonlyArray<symbol | undefined> => {
  const symbols = new Map(Object.getOwnPropertySymbols(socket).map((symbol) => [symbol.description, symbol]))
  return names.map((name) => symbols.get(name))
}

const internalsOf = (socket: Socket): Internals | undefined => {
  const [buffer, onRead, nextBuffer] = symbolsOf(socket, ["kBuffer", "kBufferCb", "kBufferGen"])
  const handle: unknown = Reflect.get(socket, "_handle")
  if (typeof handle !== "object" || handle === null || buffer === undefined || onRead === undefined || nextBuffer === undefined)
    return undefined
  const useUserBuffer: unknown = Reflect.get(handle, "useUserBuffer")
  const onHandleRead: unknown = Reflect.get(handle, "onread")
  if (typeof useUserBuffer !== "function" || typeof onHandleRead !== "function") return undefined
  // The maker of the socket may read it so already
  if ([buffer, onRead, nextBuffer].some((symbol) => Reflect.get(socket, symbol) !== null)) return undefined
  const onWait = (waits: () => Uint8Array): void => {
    const read: OnHandleRead = (bytes) => onHandleRead.call(handle, bytes) ?? waits()
    Reflect.set(handle, "onread", read)
  }
  return { useUserBuffer: (bytes) => useUserBuffer.call(handle, bytes), onWait, buffer, onRead, nextBuffer }
}

/** Reads one connection. */
class LentReader {
  /** Memory of this connection alone, from a read that was full until the next one, which follows in the same turn. */
  private own: Uint8Array | undefined
  /** Full reads of the turn. */
  private full = 0
  private isWatched = false

  constructor(
    private readonly socket: Socket,
    private readonly take: (bytes: Uint8Array) => void
  ) {}

  /** Takes what was read. Returns whether to read more. */
  read(count: number, memory: Uint8Array): boolean {
    const { socket } = this
    this.own = undefined
    this.full = count === Loans.slabBytes ? this.full + 1 : 0
    const bytes = memory === landing ? landed(count) : lent(memory, count)
    // Behind what was read before, and not before the reader goes on
    if (socket.readableLength > 0 || socket.isPaused()) socket.push(Buffer.from(bytes))
    else this.pass(bytes)
    const goesOn = !socket.isPaused()
    if (this.full === readsOfTurn || !goesOn) this.full = 0
    // There is more to be read at once, probably
    if (this.full > 0 && !socket.destroyed) this.readOn()
    return goesOn
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

  private readOn(): void {
    this.own = Loans.take()
    if (this.own === undefined || this.isWatched) return
    this.isWatched = true
    this.socket.once("close", () => this.wait())
  }

  /** Where the next bytes are read into. */
  get next(): Uint8Array {
    return this.own ?? landing
  }

  /** Gives the memory of this connection back: others may need it until more comes. */
  wait(): void {
    if (this.own !== undefined) Loans.lend(this.own, 0)
    this.own = undefined
    this.full = 0
  }
}

const lent = (slab: Uint8Array, count: number): Uint8Array => {
  if (count >= lentBytes) {
    Loans.lend(slab, count)
    return slab.subarray(0, count)
  }
  const copy = Buffer.from(slab.subarray(0, count))
  Loans.lend(slab, 0)
  return copy
}

/** A copy of what is in the shared memory. */
const landed = (count: number): Uint8Array => {
  const bytes = landing.subarray(0, count)
  const slab = count >= lentBytes ? Loans.take() : undefined
  if (slab === undefined) return Buffer.from(bytes)
  slab.set(bytes)
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
  internals.onWait(() => {
    reader.wait()
    Reflect.set(connection, internals.buffer, landing)
    return landing
  })
  internals.useUserBuffer(landing)
  return true
}
