/** Connections to apps that speak HTTP without TLS, for requests that are passed on without an effect. */
import { type DirectStream, maximumStreams } from "@atelier/core/network"
import { type Clock, Effect, Exit, Runtime, Scope } from "effect"
import { AnswerReader, LastHead, type Receiver } from "./AnswerReader.js"
import { failureOf } from "./AppConnections.js"
import { AppFailed } from "./appReach.js"

/** Milliseconds for which an unused connection is kept. Common servers close theirs after five seconds. */
const keptFor = 4_000

/** Milliseconds between two looks at the unused connections. */
const lookEvery = 500

/**
 * Unused connections that are kept for the apps of an agent, half of the streams that it may have. As many requests may end in one turn, whose connections the
 * next turn takes: one that was not kept costs several times as much as a request.
 */
const maximumKept = maximumStreams / 2

/** Where what happens to a request goes to. */
export interface PlainReceiver extends Receiver {
  /** The connection has ended. A request that finds it stale may be sent again on another one: the app may have closed it before it saw the request. */
  readonly broken: (error: Error, isStale: boolean) => void
}

const brokenOff = new Error("It broke the connection off without an answer.")

/** A connection, which carries one request at a time. It is read whether or not it has one. */
export class PlainConnection {
  private reader: AnswerReader | undefined
  private receiver: PlainReceiver | undefined
  private hasAnswered = false
  private isPaused = false
  private isReading = false
  private isOver = false
  private readonly last = new LastHead()
  /** Since when it is unused, in milliseconds; undefined for one that has not been kept. */
  since: number | undefined

  /** `close` ends the stream. `over` is called when the connection has no request any more, with whether it may have another one. */
  constructor(
    private readonly stream: DirectStream,
    readonly agentId: string,
    readonly key: string,
    private readonly close: () => void,
    private readonly over: (connection: PlainConnection, isReusable: boolean) => void
  ) {
    this.read()
  }

  get isOpen(): boolean {
    return !this.isOver
  }

  /** Sends a request without a body. */
  send(head: string, isHead: boolean, receiver: PlainReceiver): void {
    if (this.isOver) return receiver.broken(brokenOff, false)
    this.hasAnswered = false
    this.receiver = receiver
    this.reader = new AnswerReader(
      isHead,
      {
        head: receiver.head,
        bare: () => receiver.bare?.(),
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
      },
      this.last
    )
    this.stream.put(Buffer.from(head, "latin1"), (error) => {
      if (error !== undefined) this.broken(error)
    })
  }

  pause(): void {
    this.isPaused = this.receiver !== undefined
  }

  resume(): void {
    if (!this.isPaused) return
    this.isPaused = false
    this.read()
  }

  destroy(): void {
    if (this.isOver) return
    this.isOver = true
    this.receiver = undefined
    this.reader = undefined
    this.close()
    this.over(this, false)
  }

  /** Ends the connection, and tells its request. */
  broken(error: Error): void {
    const { receiver } = this
    this.destroy()
    // An app that is silent has the request, and would have it once more
    receiver?.broken(error, this.since !== undefined && !this.hasAnswered && !(error instanceof AppFailed))
  }

  /** Reads until there is nothing, or the request's client takes no more. */
  private readonly read = (): void => {
    // What it reads may have it go on
    if (this.isReading) return
    this.isReading = true
    try {
      while (!this.isPaused && !this.isOver) {
        const bytes = this.stream.take(this.read)
        if (bytes === undefined) return
        if (bytes instanceof Uint8Array) this.take(bytes)
        else if (bytes === null) this.ended()
        else this.broken(bytes)
      }
    } finally {
      this.isReading = false
    }
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
    if (!this.hasAnswered) return this.broken(brokenOff)
    this.reader.close()
    this.destroy()
  }
}

/** Where a connection leads, and how it is opened. */
export interface Opening {
  readonly agentId: string
  /** The same for requests that may share a connection. */
  readonly key: string
  /** Opens a connection, which ends with its scope. `onIdle` is called once it has carried nothing for too long. */
  readonly open: (onIdle: (error: Error) => void) => Effect.Effect<DirectStream, Error, Scope.Scope>
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

  /**
   * Opens a connection, and returns what gives that up. A connection for which `opened` has no use by the time it is open waits for the next request.
   */
  open({ agentId, key, open }: Opening, opened: (result: PlainConnection | Error) => boolean): () => void {
    let connection: PlainConnection | undefined
    // An open stream has an owner: an interruption at this moment does not part the stream from its connection
    const opening = Effect.uninterruptibleMask((restore) =>
      Effect.gen(this, function* () {
        const scope = yield* Scope.make()
        const runtime = yield* Effect.runtime()
        const own = Scope.extend(
          open((error) => connection?.broken(error)),
          scope
        )
        const stream = yield* Effect.onError(restore(own), (cause) => Scope.close(scope, Exit.failCause(cause)))
        const close = (): void => void Runtime.runFork(runtime)(Scope.close(scope, Exit.void))
        return new PlainConnection(stream, agentId, key, close, (one, isReusable) => this.over(one, isReusable))
      })
    )
    const giveUp = Effect.runCallback(opening, {
      onExit: (exit) => {
        if (Exit.isFailure(exit)) return void opened(failureOf(exit.cause))
        connection = exit.value
        if (!opened(connection)) this.over(connection, connection.isOpen)
      }
    })
    return () => giveUp()
  }

  /** Ends the unused connections. Others end with their requests. */
  destroy(): void {
    this.isDestroyed = true
    clearInterval(this.looking)
    for (const connection of [...this.idle.values()].flat()) connection.destroy()
    this.idle.clear()
  }

  private over(connection: PlainConnection, isReusable: boolean): void {
    const { agentId, key } = connection
    this.forget(connection)
    const others = this.unused.get(agentId) ?? 0
    const list = this.idle.get(key) ?? []
    if (!isReusable || this.isDestroyed || others >= maximumKept) return connection.destroy()
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
        connection.destroy()
      }
      if (connections.length === 0) this.idle.delete(key)
    }
    if (this.idle.size > 0) return
    clearInterval(this.looking)
    this.looking = undefined
  }
}
