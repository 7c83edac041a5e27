/** WebSockets that only tell: they send the values of a feed, and take no fiber while it waits. */
import type { Alarms } from "@atelier/core/platform"
import { Feed } from "@atelier/core/platform"
import { type Duration, Effect, Exit, Runtime, type Stream } from "effect"
import type { Draining } from "../server/operate/Draining.js"
import type { StoreFaults } from "../server/operate/StoreFaults.js"
import { CloseSocket, closeWith, SocketClosed } from "./closing.js"
import { heartbeat } from "./heartbeat.js"
import type { BegunStream } from "./openStream.js"
import { closing, type Hearer, type PromptWebSocket } from "./PromptWebSocket.js"
import { sender } from "./sender.js"

const nothing = (): void => undefined

/** What may end every socket, and tell why. */
export interface House {
  readonly draining: Draining["Type"]
  readonly faults: StoreFaults["Type"]
  readonly heartbeats: Alarms
}

/** What a socket tells. */
export interface Telling<A, E> {
  readonly values: Stream.Stream<A, E>
  readonly messageOf: (value: A) => string
  /** How the socket is closed when there are no more values; with 1000 otherwise. */
  readonly last?: CloseSocket
  /** How a client that sends anything is closed. */
  readonly oneWay: OneWay
}

interface OneWay {
  readonly code: 1002 | 1008
  readonly reason: string
}

/** How a socket lives. */
export interface Options {
  readonly pingEvery?: Duration.DurationInput | null
  readonly pongWithin?: Duration.DurationInput
  readonly sendWithin?: Duration.DurationInput
}

/** A socket of a request that is taken. */
interface Taken {
  readonly webSocket: PromptWebSocket
  /** Tells that the connection is over. */
  readonly release: () => void
}

/** A socket that tells. It is no closure: hundreds of them wait for each that tells. */
class TellingSocket implements Hearer {
  private isOver = false
  private rest = nothing
  private stop = nothing
  private leave = nothing

  constructor(
    private readonly taken: Taken,
    private readonly begun: BegunStream,
    private readonly last: CloseSocket | undefined,
    private readonly oneWay: OneWay,
    private readonly house: House,
    private readonly runtime: Runtime.Runtime<never>
  ) {}

  /** The values are read, and not kept. */
  begin<A, E>(values: Stream.Stream<A, E>, take: (value: A) => Effect.Effect<void, SocketClosed>, options: Options): void {
    const { webSocket } = this.taken
    webSocket.hearer = this
    if (webSocket.isPaused) webSocket.resume()
    this.stop = Feed.attend(values, this.runtime, take, (exit) => this.ended(exit))
    this.rest = heartbeat(this.house.heartbeats, webSocket, options, () => this.close(1001, "liveness probe failed"))
    this.begun.take(({ message }) => this.close(1008, message))
    if (!this.isOver) this.leave = this.house.draining.onBegin(() => this.close(1012, "The service is restarting."))
  }

  private ended(exit: Exit.Exit<void, unknown>): void {
    this.finish(Exit.isSuccess(exit) && this.last !== undefined ? Exit.fail(this.last) : exit)
  }

  hear(event: string | symbol, [first, second]: ReadonlyArray<unknown>): boolean {
    const { code, reason } = this.oneWay
    // A broken frame: the socket is closed with the code that fits, and its close is reported
    if (event === "error") return true
    if (event === "message") this.close(code, reason)
    else if (event === closing || event === "close")
      this.finish(Exit.fail(new SocketClosed({ code: Number(first), reason: String(second) })))
    return event === "message"
  }

  private close(code: number, reason: string): void {
    this.finish(Exit.fail(new CloseSocket({ code, reason })))
  }

  private finish(exit: Exit.Exit<void, unknown>): void {
    if (this.isOver) return
    this.isOver = true
    this.stop()
    this.leave()
    this.rest()
    this.begun.leave()
    const { release, webSocket } = this.taken
    Runtime.runFork(this.runtime)(Effect.ensuring(closeWith(webSocket, exit, this.house.faults), Effect.sync(release)))
  }
}

// Apart from what begins to tell, whose stream it would keep
const taking =
  <A>(send: ReturnType<typeof sender>, messageOf: (value: A) => string) =>
  (value: A): ReturnType<typeof send> =>
    send(messageOf(value))

/** Sends the values until there are no more, the right ends, the client goes or sends anything, or the service ends. Then closes the socket and calls `release`. */
export const tell = <A, E>(
  taken: Taken,
  begun: BegunStream,
  { last, messageOf, oneWay, values }: Telling<A, E>,
  house: House,
  runtime: Runtime.Runtime<never>,
  options: Options
): void => {
  const send = sender(taken.webSocket, options.sendWithin)
  new TellingSocket(taken, begun, last, oneWay, house, runtime).begin(values, taking(send, messageOf), options)
}
