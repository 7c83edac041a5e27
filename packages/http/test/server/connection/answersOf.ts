import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { text } from "node:stream/consumers"
import { setImmediate } from "node:timers/promises"

/** What a client gets on one connection, and what the listeners of the responses learn. */
export interface Answers {
  readonly bytes: string
  /** For each response in turn. */
  readonly events: ReadonlyArray<ReadonlyArray<unknown>>
}

/** The date that Node adds to a head without one. */
const ownDate = /\r\nDate: [^\r]*/g

const watched = (response: ServerResponse): ReadonlyArray<unknown> => {
  const events: Array<unknown> = []
  for (const event of ["prefinish", "finish", "close"]) {
    response.on(event, () => {
      const { headersSent, statusCode, statusMessage, writableEnded, writableFinished } = response
      events.push([event, { headersSent, statusCode, statusMessage, writableEnded, writableFinished }])
    })
  }
  return events
}

/** A server of Node's. Its answers are made by the function that is set last, which is told the place of the request on its connection. */
export const aServer = async () => {
  let answer: (response: ServerResponse, place: number) => void | Promise<void> = (response) => void response.end()
  let events: Array<ReadonlyArray<unknown>> = []
  const server = createServer((_: IncomingMessage, response: ServerResponse) => {
    const place = events.push(watched(response)) - 1
    void answer(response, place)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return {
    close: () => void server.close().closeAllConnections(),
    /** Sends requests on one connection. The last request asks for its end. */
    answersOf: async (requests: ReadonlyArray<string>, make: typeof answer): Promise<Answers> => {
      answer = make
      events = []
      const socket = connect(port, "127.0.0.1")
      socket.write(requests.join(""), "latin1")
      const bytes = await text(socket.setEncoding("latin1"))
      await setImmediate()
      return { bytes: bytes.replaceAll(ownDate, "\r\nDate: now"), events }
    }
  }
}

/** Waits until the responses before one on its connection have been sent. */
export const inTurn = async (response: ServerResponse): Promise<void> => {
  if (response.socket === null) await once(response, "socket")
}

/** Requests without bodies on one connection, which ends with the last one. */
export const aRequest = (method: string, isLast: boolean, version = "1.1"): string =>
  `${method} / HTTP/${version}\r\nHost: test\r\n${isLast ? "Connection: close\r\n" : version === "1.0" ? "Connection: keep-alive\r\n" : ""}\r\n`
