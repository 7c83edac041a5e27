/** Connections to apps that speak HTTP without TLS, for requests that are passed on without an effect. */
import { type Clock, Effect, Exit, type Scope } from "effect"
import type { Duplex } from "node:stream"
import { AnswerReader, type Receiver } from "./AnswerReader.js"
import { failureOf, openOwn } from "./AppConnections.js"
import { AppFailed } from "./appReach.js"

/** Milliseconds for which an unused connection is kept. Common servers close theirs after five seconds. */
const keptFor = 4_000

/** Milliseconds between two looks at the unused connections. */
const lookEvery = 500

/** Unused connections that are kept for each app, and for all apps of an agent. */
const maximumKept = 32
const maximumKeptOfAgent = 64

/** Where what happens to a request goes to. */
export interface PlainReceiver extends Receiver {
  /** The connection has ended. A request that finds it stale may be sent again on another one: the app may have closed it before it saw the request. */
  readonly broken: (error: Error, isStale: boolean) => void
}

/** A connection, which carries one request at a time. */
export class PlainConnection {
  private reader: AnswerReader | undefined
  private receiver: PlainReceiver | undefined
  private hasAnswered = false
  private isPaused = false
  /** Since when it is unused, in milliseconds; undefined for one that has not been kept. */
  since: number | undefined

  constructor(
    private readonly socket: Duplex,
    readonly agentId: string,
    readonly key: string,
    private readonly over: (connection: PlainConnection, isReusable: boolean) => void
  ) {
    socket
      .on("data", (bytes: Uint8Array) => this.take(bytes))
      .on("end", () => this.ended())
      .on("error", (error: Error) => this.broken(error))
      .on("close", () => this.broken(new Error("It broke the connection off without an answer.")))
  }

  get isOpen(): boolean {
    return !this.socket.destroyed && !this.socket.readableEnded
  }

  /** Sends a request without a body. */
  send(head: string, isHead: boolean, receiver: PlainReceiver): void {
    this.hasAnswered = false
    this.receiver = receiver
    this.reader = new AnswerReader(isHead, {
      head: receiver.head,
      data: receiver.data,
      end: (isReusable) => {
        this.leave()
        this.over(this, isReusable && this.isOpen)
        receiver.end(isReusable)
      },
      fail: (message) => {
        this.leave()
        this.destroy()
        receiver.fail(message)
      }
    })
    this.socket.write(head, "latin1")
  }

  pause(): void {
    if (this.receiver === undefined) return
    this.isPaused = true
    this.socket.pause()
  }

  resume(): void {
    if (!this.isPaused) return
    this.isPaused = false
    this.socket.resume()
  }

  destroy(): void {
    this.receiver = undefined
    this.reader = undefined
    this.socket.destroy()
  }

  private leave(): void {
    this.reader = undefined
    this.receiver = undefined
    this.resume()
  }

  private take(bytes: Uint8Array): void {
    // Without a request there is no answer: the next request would take it for its own
    if (this.reader === undefined) return this.destroy()
    this.hasAnswered = true
    this.reader.take(bytes)
  }

  private ended(): void {
    if (this.reader === undefined) return this.destroy()
    if (!this.hasAnswered) return this.broken(new Error("It broke the connection off without an answer."))
    this.reader.close()
    this.socket.destroy()
  }

  private broken(error: Error): void {
    const { receiver } = this
    this.receiver = undefined
    this.reader = undefined
    this.socket.destroy()
    if (receiver === undefined) this.over(this, false)
    // An app that is silent has the request, and would have it once more
    else receiver.broken(error, this.since !== undefined && !this.hasAnswered && !(error instanceof AppFailed))
  }
}

/** Where a connection leads, and how it is opened. */
export interface Opening {
  readonly agentId: string
  /** The same for requests that may share a connection. */
  readonly key: string
  /** Opens a connection, which ends with its scope. */
  readonly open: Effect.Effect<Duplex, Error, Scope.Scope>
}

/** The connections of all apps. */
export class PlainConnections {
  private readonly idle = new Map<string, Array<PlainConnection>>()
  /** How many unused connections each agent has. */
  private readonly unused = new Map<string, number>()
  private looking: NodeJS.Timeout | undefined
  private isDestroyed = false

  constructor(private readonly clock: Clock.Clock) {}

  /** Takes the connection that was used last. */
  take(key: string): PlainConnection | undefined {
    const last = this.idle.get(key)?.at(-1)
    if (last !== undefined) this.forget(last)
    return last
  }

  /** Opens a connection. A connection that has no use by the time it is open waits for the next request. */
  open({ agentId, key, open }: Opening, opened: (result: PlainConnection | Error) => boolean): void {
    Effect.runCallback(openOwn(open), {
      onExit: (exit) => {
        if (Exit.isFailure(exit)) return void opened(failureOf(exit.cause))
        const connection = new PlainConnection(exit.value, agentId, key, (one, isReusable) => this.over(one, isReusable))
        if (!opened(connection)) this.over(connection, true)
      }
    })
  }

  /** Ends the unused connections. Others end with their requests. */
  destroy(): void {
    this.isDestroyed = true
    clearInterval(this.looking)
    for (const connections of this.idle.values()) for (const connection of connections) connection.destroy()
    this.idle.clear()
  }

  private over(connection: PlainConnection, isReusable: boolean): void {
    const { agentId, key } = connection
    this.forget(connection)
    const others = this.unused.get(agentId) ?? 0
    const list = this.idle.get(key) ?? []
    if (!isReusable || this.isDestroyed || list.length >= maximumKept || others >= maximumKeptOfAgent) return connection.destroy()
    connection.since = this.clock.unsafeCurrentTimeMillis()
    list.push(connection)
    this.idle.set(key, list)
    this.unused.set(agentId, others + 1)
    this.looking ??= setInterval(() => this.look(), lookEvery).unref()
  }

  private forget(connection: PlainConnection): void {
    const { agentId, key } = connection
    const list = this.idle.get(key) ?? []
    const at = list.lastIndexOf(connection)
    if (at < 0) return
    list.splice(at, 1)
    const left = (this.unused.get(agentId) ?? 1) - 1
    if (left === 0) this.unused.delete(agentId)
    else this.unused.set(agentId, left)
  }

  private look(): void {
    const before = this.clock.unsafeCurrentTimeMillis() - keptFor
    for (const [key, connections] of this.idle) {
      for (const connection of connections.filter(({ since = 0 }) => since <= before)) {
        this.forget(connection)
        connection.destroy()
      }
      if (connections.length === 0) this.idle.delete(key)
    }
    if (this.idle.size > 0) return
    clearInterval(this.looking)
    this.looking = undefined
  }
}
