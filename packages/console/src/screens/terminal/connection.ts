/** A connection to a terminal, which is made again when it is lost. */
import type { AtelierError, Socket } from "@atelier/client"
import { asAtelierError, statusOf } from "../../app/client.js"
import { mayPass } from "../../app/queries.js"
import { signInAnew } from "../../app/sessionEnd.js"

export type ConnectionState =
  | { readonly kind: "connecting" }
  | { readonly kind: "open" }
  /** It is tried again at this time. */
  | { readonly kind: "lost"; readonly again: number }
  /** The shell has ended. */
  | { readonly kind: "ended" }
  /** The right to it is missing, or has ended: it is tried again when the user asks, or has signed in anew. */
  | { readonly kind: "refused"; readonly error: AtelierError }

export interface ConnectionOptions {
  readonly open: (signal: AbortSignal) => Promise<Socket>
  /** Takes output; the next one waits for it. `isFirst` is that of a connection: what the terminal showed before comes first. */
  readonly onOutput: (bytes: Uint8Array, isFirst: boolean) => Promise<void>
  readonly onState: (state: ConnectionState) => void
}

export interface Connection {
  /** Sends what was typed, or a size. It is lost while the connection is. */
  readonly send: (message: { readonly data: string } | { readonly height: number; readonly width: number }) => void
  /** Does not wait for the next attempt; gives up a connection that may be dead. */
  readonly tryNow: () => void
  /** Leaves the terminal, which goes on for some minutes. */
  readonly close: () => void
}

/** The shell or its command has ended: RFC 6455 §7.4.1. */
const normal = 1000

/** Milliseconds before each attempt, by how often it has failed. */
const pauses = [500, 1_000, 2_000, 5_000, 10_000]

/** Milliseconds after which an attempt that was not answered has failed. */
const openWithin = 20_000

const encoder = new TextEncoder()

/** Opens a socket within a time, and keeps it beyond. */
const openInTime = async (open: ConnectionOptions["open"], signal: AbortSignal): Promise<Socket> => {
  const attempt = new AbortController()
  const abort = (): void => attempt.abort(signal.reason)
  signal.addEventListener("abort", abort)
  const timer = setTimeout(() => attempt.abort(new Error("The service does not answer.")), openWithin)
  try {
    const socket = await open(attempt.signal)
    void socket.closed.then(() => signal.removeEventListener("abort", abort))
    return socket
  } catch (error) {
    signal.removeEventListener("abort", abort)
    throw error
  } finally {
    clearTimeout(timer)
  }
}

export const connect = ({ onOutput, onState, open }: ConnectionOptions): Connection => {
  const controller = new AbortController()
  const { signal } = controller
  let socket: Socket | undefined
  let isGivenUp = false
  let wake = (): void => undefined

  /** Reads until the end of the connection; tells whether the shell has ended. */
  const read = async (opened: Socket, received: () => void): Promise<boolean> => {
    let isFirst = true
    for await (const message of opened) {
      if (typeof message === "string") continue
      received()
      await onOutput(message, isFirst)
      isFirst = false
    }
    return !isGivenUp && (await opened.closed).code === normal
  }

  const run = async (): Promise<void> => {
    let failures = 0
    const woken = (pause?: number): Promise<void> =>
      new Promise((resolve) => {
        const timer = pause === undefined ? undefined : setTimeout(resolve, pause)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    for (;;) {
      isGivenUp = false
      onState({ kind: "connecting" })
      try {
        const opened = await openInTime(open, signal)
        socket = opened
        onState({ kind: "open" })
        const hasEnded = await read(opened, () => {
          failures = 0
        })
        if (signal.aborted) return
        if (hasEnded) return onState({ kind: "ended" })
      } catch (error) {
        if (signal.aborted) return
        const known = asAtelierError(error)
        if (!mayPass(known)) {
          onState({ kind: "refused", error: known })
          const asked = woken().then(() => true)
          const isNow = await (statusOf(known) === 401 ? Promise.race([asked, signInAnew(signal)]) : asked)
          if (signal.aborted) return
          if (isNow) continue
        }
      } finally {
        socket = undefined
      }
      const pause = isGivenUp ? 0 : (pauses[Math.min(failures, pauses.length - 1)] ?? 0)
      failures += 1
      onState({ kind: "lost", again: Date.now() + pause })
      await woken(pause)
      if (signal.aborted) return
    }
  }
  void run()

  return {
    send: (message) => socket?.send(encoder.encode(JSON.stringify(message))),
    tryNow: () => {
      isGivenUp = socket !== undefined
      socket?.close()
      wake()
    },
    close: () => {
      controller.abort(new Error("The terminal was left."))
      wake()
    }
  }
}
