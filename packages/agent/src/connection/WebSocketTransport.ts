import { Data, Deferred, Duration, Effect, Exit, type Scope } from "effect"
import type { Duplex } from "node:stream"
import { WebSocket, type RawData } from "ws"
import { binaryFrames, makePauses, payloadsOf, takeBinary, TransportError, type Transport, writeTogether } from "@atelier/agent-protocol"
import { isLoopback, resolving } from "./Loopback.js"
import { reasonOf } from "./Unreachable.js"

/**
 * The server does not open the connection. `status` is that of its answer, if there was one. `isService` tells whether the answer has the form of the
 * service's errors, which those of proxies before it rarely have.
 */
export class ConnectFailed extends Data.TaggedError("ConnectFailed")<{
  readonly status: number | undefined
  readonly message: string
  readonly isService?: boolean
  /** The field `Retry-After` of the answer. */
  readonly retryAfter?: string | undefined
}> {}

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
const refusalOf = (body: string): Pick<ConnectFailed, "message" | "isService"> => {
  const [, message] = /"message"\s*:\s*"([^"]*)"/.exec(body) ?? []
  return { message: message ?? body, isService: message !== undefined }
}

/** Whether no program between this one and the server can read the connection: TLS hides its bytes, or the server is on this machine. */
export const isHidden = ({ hostname, protocol }: URL): boolean => protocol === "wss:" || isLoopback(hostname)

/**
 * A mask that changes nothing. Masks keep texts that a web page chooses from being taken for requests by proxies that do not know WebSockets
 * (RFC 6455 §10.3). Where no proxy sees the frames, masking costs a fifth of what it takes to send them.
 */
const noMask = (mask: Buffer): void => void mask.fill(0)

/** The connection that a WebSocket has, and whether no other program can read it. */
export interface Beneath {
  readonly connection: Duplex
  readonly isHidden: boolean
}

interface Opened {
  readonly socket: WebSocket
  readonly beneath: Beneath | undefined
}

const open = (url: URL, headers: Readonly<Record<string, string>>): Effect.Effect<Opened, ConnectFailed> =>
  Effect.async<Opened, ConnectFailed>((resume) => {
    const socket = new WebSocket(url, {
      headers,
      perMessageDeflate: false,
      maxPayload: maximumMessageBytes,
      followRedirects: false,
      ...(isHidden(url) ? { generateMask: noMask } : {}),
      ...resolving(url)
    })
    // Stays: an error after the end must not become an unhandled one.
    socket.on("error", (error) => resume(new ConnectFailed({ status: undefined, message: reasonOf(error) })))
    let beneath: Beneath | undefined
    socket.once("upgrade", (response) => {
      beneath = { connection: response.socket, isHidden: isHidden(url) }
    })
    socket.once("open", () => {
      // Nothing may arrive before there are listeners.
      socket.pause()
      resume(Effect.succeed({ socket, beneath }))
    })
    socket.once("unexpected-response", (request, response) => {
      let body = ""
      const refused = () => {
        request.destroy()
        const { headers, statusCode: status } = response
        resume(new ConnectFailed({ status, ...refusalOf(body), retryAfter: headers["retry-after"] }))
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

const notOpen = new TransportError({ cause: new Error("the WebSocket is closed") })

/** The byte stream of a socket that is open and paused, or was not listened to yet. Bytes pass it by, from and to the connection `beneath` it. Spec: agents-and-apps.md §0. */
export const overSocket = (socket: WebSocket, traffic: Traffic, beneath?: Beneath): Effect.Effect<Transport> =>
  Effect.gen(function* () {
    const ended = yield* Deferred.make<void, TransportError>()
    const closed = yield* Effect.makeLatch()
    const pausesAfter = makePauses()
    const pausesTurnAfter = makePauses(0)
    let take: (bytes: Uint8Array) => void = () => undefined
    // Until there is a receiver
    socket.pause()

    const arrive = (bytes: Uint8Array, isLast: boolean): void => {
      traffic.receivedBytes += bytes.length
      if (isLast) traffic.receivedMessages += 1
      take(bytes)
    }
    const isTaken = beneath !== undefined && takeBinary(beneath.connection, { isMasked: false, take: arrive })
    socket.on("message", (data, isBinary) => {
      // The library is given what is unread at the end, which may begin within a message
      if (isTaken && beneath.connection.destroyed) return
      if (isBinary) arrive(bytesOf(data), true)
      else socket.close(unsupported, "binary messages only")
    })
    socket.on("error", (cause) => Deferred.unsafeDone(ended, Exit.fail(new TransportError({ cause }))))
    socket.once("close", (code, reason) => {
      const cause = `closed with code ${code}${reason.length === 0 ? "" : `: ${reason.toString()}`}`
      Deferred.unsafeDone(ended, properEnds.has(code) ? Exit.void : Exit.fail(new TransportError({ cause })))
      closed.unsafeOpen()
    })

    return {
      receive: (taking) =>
        Effect.suspend(() => {
          take = taking
          socket.resume()
          return Deferred.await(ended)
        }),
      send: (bytes) =>
        Effect.async<void, TransportError>((resume) => {
          socket.send(bytes, { binary: true }, (cause) => {
            if (cause instanceof Error) resume(new TransportError({ cause }))
            else {
              traffic.sentBytes += bytes.length
              traffic.sentMessages += 1
              // After what else has arrived: what is sent until then needs one write to the connection
              if (pausesAfter(bytes.length)) setImmediate(() => resume(Effect.void))
              else resume(Effect.void)
            }
          })
        }),
      soon: (run) => void setImmediate(run),
      write: (pieces, done) => {
        const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
        const sending =
          (messages: number) =>
          (cause?: Error | null): void => {
            if (cause) return done(new TransportError({ cause }))
            traffic.sentBytes += length
            traffic.sentMessages += messages
            if (pausesTurnAfter(length)) setImmediate(done)
            else done()
          }
        if (beneath?.isHidden === true) {
          if (socket.readyState !== WebSocket.OPEN) return done(notOpen)
          const { frames, messages } = binaryFrames(pieces, true)
          return writeTogether(beneath.connection, payloadsOf(frames), sending(messages))
        }
        const payloads = payloadsOf(pieces)
        const sent = sending(payloads.length)
        beneath?.connection.cork()
        for (const [at, payload] of payloads.entries()) socket.send(payload, at === payloads.length - 1 ? sent : undefined)
        beneath?.connection.uncork()
      },
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
    Effect.tap(restore(open(options.url, options.headers)), ({ socket }) =>
      Effect.addFinalizer(() => Effect.sync(() => socket.terminate()))
    )
  ).pipe(Effect.flatMap(({ beneath, socket }) => overSocket(socket, options.traffic, beneath)))
