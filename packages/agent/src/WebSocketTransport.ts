import { Data, Duration, Effect, Exit, Mailbox, Option, Stream, type Scope } from "effect"
import { lookup } from "node:dns"
import type { LookupFunction } from "node:net"
import { WebSocket, type RawData } from "ws"
import { TransportError, type Transport } from "@atelier/agent-protocol"

/** The server does not open the connection. `status` is that of its answer, if there was one. */
export class ConnectFailed extends Data.TaggedError("ConnectFailed")<{ readonly status: number | undefined; readonly message: string }> {}

/** The traffic of an agent's connections, in bytes and WebSocket messages. */
export interface Traffic {
  receivedBytes: number
  receivedMessages: number
  sentBytes: number
  sentMessages: number
}

export const emptyTraffic = (): Traffic => ({ receivedBytes: 0, receivedMessages: 0, sentBytes: 0, sentMessages: 0 })

/** How long the server may take to open the connection, until the upgrade is answered. */
const openWithin = Duration.seconds(15)

/** How long the peer may take to answer a close frame before the socket is destroyed. */
const closeWithin = Duration.seconds(2)

/** Bytes of a WebSocket message. The server's senders split at 64 KiB; its frames are at most the largest packet. */
const maximumMessageBytes = 4 * 1024 * 1024 + 64 * 1024

/** Messages waiting to be handled at which the socket is paused. */
const maximumWaiting = 64

/** Bytes of a refusal's body that are read for its message. */
const maximumRefusalBytes = 4096

/** Close codes that end the stream properly (agents-and-apps.md §0): 1012 comes from a server that restarts. */
const properEnds = new Set([1000, 1001, 1012])

const unsupported = 1003

const bytesOf = (data: RawData): Uint8Array => {
  if (Array.isArray(data)) return Buffer.concat(data)
  return Buffer.isBuffer(data) ? data : new Uint8Array(data)
}

/** The `message` of an error's JSON body, or the body. */
const refusalOf = (body: string): string => Option.getOrElse(Option.fromNullable(/"message"\s*:\s*"([^"]*)"/.exec(body)?.[1]), () => body)

/** Names of this machine, which its resolver may not know (RFC 6761 §6.3). */
const isLoopbackName = (host: string): boolean => host.endsWith(".localhost")

const loopback: LookupFunction = (_, options, done) => lookup("localhost", options, done)

const open = (url: URL, headers: Readonly<Record<string, string>>): Effect.Effect<WebSocket, ConnectFailed> =>
  Effect.async<WebSocket, ConnectFailed>((resume) => {
    const socket = new WebSocket(url, {
      headers,
      perMessageDeflate: false,
      maxPayload: maximumMessageBytes,
      followRedirects: false,
      ...(isLoopbackName(url.hostname) ? { lookup: loopback } : {})
    })
    const fail = (status: number | undefined, message: string) => resume(new ConnectFailed({ status, message }))
    // Stays: an error after the end must not become an unhandled one.
    socket.on("error", (error) => fail(undefined, error.message))
    socket.once("open", () => {
      // Nothing may arrive before there are listeners.
      socket.pause()
      resume(Effect.succeed(socket))
    })
    socket.once("unexpected-response", (request, response) => {
      let body = ""
      const refused = () => {
        request.destroy()
        fail(response.statusCode, refusalOf(body))
      }
      response.setEncoding("utf8")
      response.on("data", (text: string) => {
        body += text
        if (body.length > maximumRefusalBytes) refused()
      })
      response.once("end", refused)
      response.once("error", refused)
    })
    return Effect.sync(() => socket.terminate())
  }).pipe(
    Effect.timeoutFail({
      duration: openWithin,
      onTimeout: () => new ConnectFailed({ status: undefined, message: "The server does not answer" })
    })
  )

/** The byte stream of a socket that is open and paused, or was not listened to yet. Spec: agents-and-apps.md §0. */
export const overSocket = (socket: WebSocket, traffic: Traffic): Effect.Effect<Transport> =>
  Effect.gen(function* () {
    const inbox = yield* Mailbox.make<Uint8Array, TransportError>()
    const closed = yield* Effect.makeLatch()
    let waiting = 0

    socket.on("message", (data, isBinary) => {
      if (!isBinary) {
        socket.close(unsupported, "binary messages only")
        return
      }
      const bytes = bytesOf(data)
      traffic.receivedBytes += bytes.length
      traffic.receivedMessages += 1
      waiting += 1
      if (waiting === maximumWaiting) socket.pause()
      inbox.unsafeOffer(bytes)
    })
    socket.on("error", (cause) => inbox.unsafeDone(Exit.fail(new TransportError({ cause }))))
    socket.once("close", (code, reason) => {
      const cause = `closed with code ${code}${reason.length === 0 ? "" : `: ${reason.toString()}`}`
      inbox.unsafeDone(properEnds.has(code) ? Exit.void : Exit.fail(new TransportError({ cause })))
      closed.unsafeOpen()
    })
    socket.resume()

    const taken = () => {
      waiting -= 1
      if (socket.isPaused && waiting < maximumWaiting / 2) socket.resume()
    }

    return {
      incoming: Stream.repeatEffectOption(
        inbox.take.pipe(
          Effect.tap(() => Effect.sync(taken)),
          Effect.mapError((error) => (error._tag === "NoSuchElementException" ? Option.none() : Option.some(error)))
        )
      ),
      send: (bytes) =>
        Effect.async<void, TransportError>((resume) => {
          socket.send(bytes, { binary: true }, (cause) => {
            if (cause instanceof Error) resume(new TransportError({ cause }))
            else {
              traffic.sentBytes += bytes.length
              traffic.sentMessages += 1
              resume(Effect.void)
            }
          })
        }),
      close: (exit) =>
        Effect.suspend(() => {
          // Paused, it would never see the peer's close frame.
          socket.resume()
          if (Exit.isSuccess(exit)) socket.close(1000)
          else socket.close(1011)
          return closed.await
        }).pipe(Effect.interruptible, Effect.timeoutOption(closeWithin), Effect.zipRight(Effect.sync(() => socket.terminate())))
    }
  })

/** Connects to a byte stream over WebSocket. The socket is gone when the scope is closed. */
export const connect = (options: {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly traffic: Traffic
}): Effect.Effect<Transport, ConnectFailed, Scope.Scope> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.tap(restore(open(options.url, options.headers)), (socket) => Effect.addFinalizer(() => Effect.sync(() => socket.terminate())))
  ).pipe(Effect.flatMap((socket) => overSocket(socket, options.traffic)))
