import { ServerResponse } from "node:http"
import type { Duplex } from "node:stream"

/** The response whose turn it is on a connection, of which Node's types do not tell. */
export const responseOn = (socket: Duplex): ServerResponse | undefined => {
  const response: unknown = Reflect.get(socket, "_httpMessage")
  return response instanceof ServerResponse ? response : undefined
}
