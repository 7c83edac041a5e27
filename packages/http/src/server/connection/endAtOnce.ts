import type { ServerResponse } from "node:http"
import { ownMethods } from "./ownMethods.js"
import { responseOn } from "./responseOn.js"

/** Bytes or characters of a body that are put behind their head. Others leave in a write of several pieces. */
const maximumJoined = 16 * 1024

/** The part of a response that Node's types do not describe. */
interface Internals {
  /** The head as text, once it is written. */
  readonly _header: string
  /** Whether the head has left. */
  _headerSent: boolean
  readonly _hasBody: boolean
  readonly _writeRaw: unknown
  readonly _send: unknown
  readonly outputData: ReadonlyArray<unknown>
  readonly _finish: () => void
}

type Response = ServerResponse & Internals

/** Whether a response is as Node makes it, with a head that has not left and a body of the length that the head tells. */
const isPlain = (response: ServerResponse): response is Response => {
  const { _finish, _hasBody, _header, _headerSent, _send, _writeRaw, outputData } = response as Partial<Response>
  return (
    typeof _header === "string" &&
    _headerSent === false &&
    _hasBody === true &&
    Array.isArray(outputData) &&
    outputData.length === 0 &&
    typeof _finish === "function" &&
    response.end === ownMethods.end &&
    response.write === ownMethods.write &&
    _send === ownMethods.send &&
    _writeRaw === ownMethods.writeRaw &&
    !response.finished &&
    !response.chunkedEncoding &&
    !response.strictContentLength &&
    response.writableCorked === 0
  )
}

/** The head and the body as one piece. Node encodes a head as the text behind it. */
const joined = (head: string, body: string | Uint8Array): string | Uint8Array => {
  if (typeof body === "string") return head + body
  const bytes = Buffer.allocUnsafe(head.length + body.length)
  bytes.write(head, "latin1")
  bytes.set(body, head.length)
  return bytes
}

/**
 * Ends a response with the rest of its body. Its head is written. The head and a small body leave as one piece: Node itself writes three, one of them empty, and
 * collects them for one call of the system. That takes a tenth of a small request. A response that is not as Node makes it ends by its own method.
 */
export const endAtOnce = (response: ServerResponse, body: unknown): void => {
  const { socket } = response
  const isSmall = (typeof body === "string" || body instanceof Uint8Array) && body.length > 0 && body.length <= maximumJoined
  if (!isSmall || socket?.writable !== true || responseOn(socket) !== response || !isPlain(response)) return void response.end(body)
  response._headerSent = true
  socket.write(joined(response._header, body), () => {
    // As Node does: a connection that has failed has closed its response
    if (Reflect.get(socket, "_hadError") !== true) response.emit("finish")
  })
  response.finished = true
  response._finish()
}
