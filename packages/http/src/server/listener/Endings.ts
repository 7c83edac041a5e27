import type { ServerResponse } from "node:http"
import { endAtOnce } from "../connection/endAtOnce.js"

/** Milliseconds for which the first of several answers waits for others. */
const patience = 1

/** Ends a response whose head is written, with the rest of its body. */
export type End = (response: ServerResponse, body?: unknown) => void

/**
 * Ends the answers of one turn of the event loop together, at its end. A write to a connection whose reader sleeps takes about 40 µs of the processor,
 * a third of a small request: with several writes at once, one of them wakes a reader of several connections, such as a proxy.
 * A response that throws, such as one whose `end` a middleware has replaced, is cut and given to `onFailure`; the others still end.
 */
export const make = (onFailure: (error: unknown) => void): End => {
  let waiting: Array<{ readonly response: ServerResponse; readonly body: unknown }> = []
  let since = 0
  const endAll = (): void => {
    const ended = waiting
    waiting = []
    for (const { body, response } of ended) {
      try {
        if (!response.writableEnded) endAtOnce(response, body)
      } catch (error) {
        response.destroy()
        onFailure(error)
      }
    }
  }
  return (response, body) => {
    const now = performance.now()
    if (waiting.length === 0) {
      since = now
      setImmediate(endAll)
    }
    waiting.push({ response, body })
    if (now - since > patience) endAll()
  }
}
