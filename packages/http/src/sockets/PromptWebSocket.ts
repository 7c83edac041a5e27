import { WebSocket } from "ws"

/** The event by which a WebSocket tells that its close begins. */
export const closing = Symbol("closing")

/** The event by which a WebSocket tells that a piece of a message has come past it. */
export const arrived = Symbol("arrived")

/** The events that are signs of life of the other side. */
export const signs = ["pong", "ping", "message", arrived] as const

const isSign = (event: string | symbol): boolean => signs.some((sign) => sign === event)

/** What a WebSocket tells of its events. */
export interface Hearer {
  /** Returns whether the event is dealt with: listeners are not called for it. */
  readonly hear: (event: string | symbol, values: ReadonlyArray<unknown>) => boolean
}

/**
 * A WebSocket of a client. It tells that its close begins: the client or the service has asked for it. `close` comes once the client has ended the connection too.
 * Its heartbeat and the one that uses it are told without listeners, whose table takes half a KB.
 */
export class PromptWebSocket extends WebSocket {
  /** Called with each sign of life. */
  onSign: (() => void) | undefined = undefined
  hearer: Hearer | undefined = undefined

  override emit(event: string | symbol, ...values: Array<unknown>): boolean {
    if (this.onSign !== undefined && isSign(event)) this.onSign()
    return this.hearer?.hear(event, values) === true || super.emit(event, ...values)
  }

  override close(code?: number, reason?: string | Buffer): void {
    super.close(code, reason)
    // A frame without a code is reported as 1005 (RFC 6455 §7.1.5)
    this.emit(closing, code ?? 1005, Buffer.from(reason ?? ""))
  }
}
