/** Requests to the machine of an agent, on streams as the server opens them. */
import { ReverseStream, type Session } from "@atelier/agent-protocol"
import { Effect, type Scope } from "effect"
import { request as httpRequest } from "node:http"
import type { Duplex } from "node:stream"
import { text } from "node:stream/consumers"
import { WebSocket } from "ws"
import { AgentUnreachable } from "@atelier/core/network"
import { agentSocket } from "@atelier/node"

export interface Answer {
  readonly status: number
  readonly body: unknown
}

const unreachable = ({ message }: { readonly message: string }) => new AgentUnreachable({ message })

/** A connection to an agent's machine, which ends with the scope. */
const connected = (session: Session.Session): Effect.Effect<Duplex, never, Scope.Scope> =>
  Effect.flatMap(Effect.orDie(ReverseStream.open(session, { kind: "machine" })), ({ finish, read, write }) =>
    agentSocket({ finish, read: Effect.mapError(read, unreachable), write: (bytes) => Effect.mapError(write(bytes), unreachable) })
  )

/** Makes a request. Its interruption breaks it off. */
export const call = (
  session: Session.Session,
  method: string,
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {}
): Effect.Effect<Answer> =>
  Effect.scoped(
    Effect.flatMap(connected(session), (socket) =>
      Effect.async<Answer>((resume) => {
        const request = httpRequest({ createConnection: () => socket, method, path, headers })
        request.on("error", (error) => resume(Effect.die(error)))
        request.on("response", (response) => {
          text(response).then(
            (said) => resume(Effect.succeed({ status: response.statusCode ?? 0, body: said === "" ? undefined : JSON.parse(said) })),
            (error: unknown) => resume(Effect.die(error))
          )
        })
        request.end(body === undefined ? "" : JSON.stringify(body))
        return Effect.sync(() => void request.destroy())
      })
    )
  )

export interface Output {
  readonly channel: number
  readonly offset: number
  readonly text: string
}

/** A process's stream, and what it has told. */
export interface ProcessSocket {
  readonly socket: WebSocket
  readonly outputs: ReadonlyArray<Output>
  readonly told: ReadonlyArray<unknown>
  /** Waits until the output holds a text. */
  readonly until: (expected: string) => Effect.Effect<void>
  /** The end that the stream tells. */
  readonly ended: Effect.Effect<unknown>
  readonly type: (text: string) => void
}

/** Opens a process's stream. It is closed with the scope. */
export const open = (session: Session.Session, process: string, offset = 0): Effect.Effect<ProcessSocket, never, Scope.Scope> =>
  Effect.gen(function* () {
    const connection = yield* connected(session)
    const path = `ws://agent/processes/${process}/stream?offset=${offset}`
    const socket = yield* Effect.acquireRelease(
      Effect.sync(() => new WebSocket(path, { createConnection: () => connection })),
      (socket) => Effect.sync(() => socket.terminate())
    )
    const outputs: Array<Output> = []
    const told: Array<unknown> = []
    const news = Effect.unsafeMakeLatch()
    socket.on("error", () => undefined)
    socket.on("message", (data: Buffer, isBinary) => {
      if (isBinary) {
        outputs.push({ channel: data[0] ?? 0, offset: Number(data.readBigUInt64BE(1)), text: data.subarray(9).toString("latin1") })
      } else told.push(JSON.parse(data.toString()))
      news.unsafeOpen()
    })
    const when = (holds: () => boolean): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (holds()) return Effect.void
        news.unsafeClose()
        return Effect.zipRight(news.await, when(holds))
      })
    const isEnd = (event: unknown): boolean => typeof event === "object" && event !== null && Reflect.get(event, "type") === "exit"
    yield* Effect.async<void>((resume) => void socket.once("open", () => resume(Effect.void)))
    return {
      socket,
      outputs,
      told,
      until: (expected) =>
        when(() =>
          outputs
            .map(({ text }) => text)
            .join("")
            .includes(expected)
        ),
      ended: Effect.map(
        when(() => told.some(isEnd)),
        () => told.find(isEnd)
      ),
      type: (text) => socket.send(Buffer.concat([Buffer.of(0), Buffer.from(text)]))
    }
  })
