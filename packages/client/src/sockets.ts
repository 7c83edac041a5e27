/** WebSockets, one way as streams and both ways as sockets. */
import { AtelierError } from "./AtelierError.js"
import { type CallOptions, encode, type Input, refusalMessage, send } from "./call.js"
import type { Client } from "./Client.js"
import { type End, type Progress, reconnecting, type Resume, type StreamOptions } from "./stream.js"
import type { SocketConstructor, WebSocketLike } from "./WebSocketLike.js"

/** A message of a WebSocket: text or bytes. */
export type SocketMessage = string | Uint8Array

/** A WebSocket that is open. Its messages are read by iterating it, once; leaving the iteration closes the socket. */
export interface Socket {
  /** Sends a message. A socket that is closed loses it. */
  readonly send: (message: SocketMessage) => void
  /** Resolves once little of what was sent is left to leave, or the socket is closed. */
  readonly flushed: () => Promise<void>
  /** Closes the socket with a code of RFC 6455; default 1000. */
  readonly close: (code?: number, reason?: string) => void
  /** How the socket was closed. */
  readonly closed: Promise<Close>
  /** Ends when the socket is closed. Fails with an `AtelierError` if the reason is a failure or the end of the right to it. */
  readonly [Symbol.asyncIterator]: () => AsyncGenerator<SocketMessage, void, undefined>
}

/** How a WebSocket was closed: RFC 6455 §7.4 has the codes. */
export interface Close {
  readonly code: number
  readonly reason: string
}

const normal = 1000
const goingAway = 1001
const noCode = 1005
const policyViolation = 1008
const tooBig = 1009

/** Characters and bytes of messages that wait for the program; a socket that has more is closed. */
const maximumWaiting = 16 * 1024 * 1024

/** Characters and bytes of waiting messages above which the other side has to wait, where the platform's socket can make it. */
const comfortablyWaiting = 1024 * 1024

/** Bytes that were sent and have not left yet, above which a stream takes no more. */
const maximumUnsent = 1024 * 1024

/** Milliseconds after which the bytes that have not left are looked at again: no socket tells when they have. */
const lookAgainAfter = 5

/** The `readyState` of an open socket. */
const openState = 1

/** Makes the platform's socket. Those of browsers take no headers, so the token is a parameter of the address there. */
const construct = (Socket: SocketConstructor, client: Client, url: string, headers: Readonly<Record<string, string>>): WebSocketLike => {
  try {
    // Not in the type: every platform has another one
    return new Socket(url, { headers } as never)
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "SyntaxError") throw error
    const token = headers[client.sessionHeader]
    const address = new URL(url)
    if (token !== undefined) address.searchParams.set(client.sessionQuery, token)
    return new Socket(address.href)
  }
}

/** Why a WebSocket could not be opened or was closed: sockets do not say, so the same request is made without one. */
const refusalOf = async (client: Client, template: string, input: Input, signal: AbortSignal | undefined): Promise<AtelierError> => {
  const message = "The WebSocket cannot be opened."
  try {
    const response = await send(client, "GET", template, input, { signal })
    await response.body?.cancel()
    return new AtelierError({ status: 0, message })
  } catch (error) {
    signal?.throwIfAborted()
    if (!(error instanceof AtelierError)) throw error
    // All is well but that this was not a WebSocket
    return error.status === 426 ? new AtelierError({ status: 0, message, detail: "Does a proxy pass upgrades on?", cause: error }) : error
  }
}

const wrapperOf = (socket: WebSocketLike) => {
  const waiting: Array<SocketMessage> = []
  let size = 0
  let close: Close | undefined
  let wake = (): void => {}
  const closed = new Promise<Close>((resolve) => {
    socket.addEventListener("close", ({ code, reason }) => {
      close ??= { code, reason }
      resolve(close)
      wake()
    })
  })
  socket.addEventListener("message", ({ data }) => {
    if (close !== undefined) return
    const message = data instanceof ArrayBuffer ? new Uint8Array(data) : String(data)
    size += message.length
    waiting.push(message)
    if (size > comfortablyWaiting) socket.pause?.()
    if (size > maximumWaiting) {
      close = { code: tooBig, reason: "The program takes too long to read." }
      closeNow()
    }
    wake()
  })
  // A paused socket would not see how the other side answers
  const closeNow = (code = normal, reason?: string): void => {
    socket.resume?.()
    socket.close(code, reason)
  }
  async function* messages(): AsyncGenerator<SocketMessage, Close, undefined> {
    try {
      for (;;) {
        const message = waiting.shift()
        if (message !== undefined) {
          size -= message.length
          if (size <= comfortablyWaiting) socket.resume?.()
          yield message
        } else if (close !== undefined) {
          return close
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      }
    } finally {
      closeNow()
    }
  }
  const flushed = async (): Promise<void> => {
    while (socket.readyState === openState && socket.bufferedAmount > maximumUnsent) {
      await new Promise((resolve) => setTimeout(resolve, lookAgainAfter))
    }
  }
  return { messages, closed, flushed, close: closeNow }
}

/** The platform's class of sockets. Throws on a platform without one. */
export const socketsOf = ({ WebSocket }: Client): SocketConstructor => {
  if (WebSocket !== undefined) return WebSocket
  throw new TypeError('This platform has no WebSocket: give createClient the option `WebSocket`, such as the class of the package "ws".')
}

/** Opens a socket and waits until it is open. */
const open = async (client: Client, template: string, input: Input, signal: AbortSignal | undefined) => {
  const WebSocket = socketsOf(client)
  signal?.throwIfAborted()
  const { path } = encode(template, input)
  const headers = await client.headers()
  const socket = construct(WebSocket, client, `${client.baseUrl.replace(/^http/, "ws")}${path}`, headers)
  socket.binaryType = "arraybuffer"
  const wrapper = wrapperOf(socket)
  const abort = (): void => wrapper.close()
  signal?.addEventListener("abort", abort)
  void wrapper.closed.then(() => signal?.removeEventListener("abort", abort))
  const hasOpened = await new Promise<boolean>((resolve) => {
    socket.addEventListener("open", () => resolve(true))
    // A platform tells no more about an error than its close does
    socket.addEventListener("error", () => {})
    socket.addEventListener("close", () => resolve(false))
    if (signal?.aborted === true) abort()
  })
  signal?.throwIfAborted()
  if (!hasOpened) throw await refusalOf(client, template, input, signal)
  return { socket, ...wrapper }
}

/** Opens a socket for both directions. */
export const openSocket = async (client: Client, template: string, input: Input, { signal }: CallOptions = {}): Promise<Socket> => {
  const { close, closed, flushed, messages, socket } = await open(client, template, input, signal)
  return {
    // The types of platforms differ in the memory that bytes may have
    send: (message) => {
      if (socket.readyState === openState) socket.send(message as never)
    },
    close,
    closed,
    flushed,
    [Symbol.asyncIterator]: async function* () {
      const { code, reason } = yield* messages()
      signal?.throwIfAborted()
      if (code === normal || code === goingAway || code === noCode) return
      throw code === policyViolation
        ? await rightEnded(client, template, input, reason, signal)
        : new AtelierError({ status: 0, message: "The WebSocket was closed.", detail: `${code} ${reason}`.trim() })
    }
  }
}

/** The service has closed a socket because the right to it has ended: asks it why. */
const rightEnded = async (
  client: Client,
  template: string,
  input: Input,
  reason: string,
  signal: AbortSignal | undefined
): Promise<AtelierError> => {
  const refusal = await refusalOf(client, template, input, signal)
  return refusal.status >= 400 && refusal.status < 500
    ? refusal
    : new AtelierError({ status: 403, message: reason === "" ? "The right to the stream has ended." : reason })
}

/** The content of a message: a value, or the reason for the end. */
interface Read {
  readonly value?: unknown
  readonly error?: string
}

/** Reads a message that is a value. */
const readValue = (text: string): Read => ({ value: JSON.parse(text) })

/** Reads a message that is an event: `{"type":"data","data":…}`. */
const readEvent = (text: string): Read => {
  const { data, type }: { readonly type?: string; readonly data?: unknown } = JSON.parse(text)
  if (type === "error") return { error: refusalMessage(data, "The service reports an error.") }
  return type === "data" ? { value: data } : {}
}

const listenWith = <A>(read: (text: string) => Read, ends: boolean, client: Client, template: string) =>
  async function* (input: Input, { opened, received, signal }: Progress): AsyncGenerator<A, End, undefined> {
    const { messages } = await open(client, template, input, signal)
    opened()
    let error: string | undefined
    const source = messages()
    try {
      for (;;) {
        const next = await source.next()
        signal?.throwIfAborted()
        if (next.done === true) {
          const { code, reason } = next.value
          if (code === policyViolation) throw await rightEnded(client, template, input, reason, signal)
          return { isOver: ends && code === normal, reason: error ?? `${code} ${reason}`.trim() }
        }
        const message = read(String(next.value))
        error = message.error ?? error
        if (!("value" in message)) continue
        received(message.value)
        // The contract says what a message is
        yield message.value as A
      }
    } finally {
      await source.return({ code: normal, reason: "" })
    }
  }

/** The values that a WebSocket sends one by one until it closes with 1000, over as many connections as it takes. */
export const socketValues = <A>(
  client: Client,
  template: string,
  input: Input,
  resume: Resume,
  options: StreamOptions = {}
): AsyncGenerator<A, void, undefined> => reconnecting(listenWith<A>(readValue, true, client, template), input, resume, options)

/** The data of events that a WebSocket sends without an end, over as many connections as it takes. */
export const socketEvents = <A>(
  client: Client,
  template: string,
  input: Input,
  resume: Resume,
  options: StreamOptions = {}
): AsyncGenerator<A, void, undefined> => reconnecting(listenWith<A>(readEvent, false, client, template), input, resume, options)
