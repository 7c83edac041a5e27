/** Requests whose clients send the body when they are told to (`Expect: 100-continue`, RFC 9110 §10.1.1). */
import type { IncomingMessage, ServerResponse } from "node:http"

const waiting = new WeakMap<IncomingMessage, ServerResponse>()

/** Remembers a request that the host's server has not told to go on. */
export const expect = (request: IncomingMessage, response: ServerResponse): void => {
  waiting.set(request, response)
}

/** Whether the client has not been told to send the body. */
export const isExpected = (request: IncomingMessage): boolean => waiting.has(request)

/** Tells the client to send the body, if it waits for that. */
export const send = (request: IncomingMessage): void => {
  waiting.get(request)?.writeContinue()
  waiting.delete(request)
}
