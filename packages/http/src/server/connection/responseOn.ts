import { ServerResponse } from "node:http"
import type { Duplex } from "node:stream"

/** The response whose turn it is on a connection, which Node's types do not describe. */
export const responseOn = (socket: Duplex): ServerResponse | undefined => {
  const response: unknown = Reflect.get(socket, "_httpMessage")
  return response instanceof ServerResponse ? response : undefined
}
