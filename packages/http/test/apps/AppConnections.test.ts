import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { ClientRequest } from "node:http"
import { Duplex } from "node:stream"
import { AppConnections } from "../../src/apps/AppConnections.js"

const aSocket = () => new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() })

/** Connections of an agent, open and used. */
const opened = (connections: AppConnections, agent_id: string, count: number) =>
  Effect.promise(() =>
    Promise.all(
      Array.from(
        { length: count },
        () =>
          new Promise<Duplex>((resolve, reject) => {
            connections.createConnection({ agent_id, key: agent_id, open: Effect.sync(aSocket) }, (error, socket) =>
              error === null ? resolve(socket) : reject(error)
            )
          })
      )
    )
  )

const make = Effect.acquireRelease(
  Effect.sync(() => new AppConnections()),
  (connections) => Effect.sync(() => connections.destroy())
)

describe("unused connections to apps", () => {
  it.scoped("are 32 of an agent, so that its other streams have room", () =>
    Effect.gen(function* () {
      const connections = yield* make
      const sockets = yield* opened(connections, "one", 66)
      expect(sockets.map((socket) => connections.keepSocketAlive(socket)).filter((isKept) => isKept).length).toBe(32)
      const [other] = yield* opened(connections, "other", 1)
      expect(other && connections.keepSocketAlive(other)).toBe(true)

      const [first, second] = sockets
      const [last, lastButOne] = sockets.toReversed()
      yield* Effect.async<void>((resume) => {
        first?.once("close", () => resume(Effect.void)).destroy()
      })
      expect(last && connections.keepSocketAlive(last)).toBe(true)
      expect(lastButOne && connections.keepSocketAlive(lastButOne)).toBe(false)
      const request = new ClientRequest({ createConnection: aSocket })
      request.on("error", () => undefined).destroy()
      if (second !== undefined) connections.reuseSocket(second, request)
      expect(lastButOne && connections.keepSocketAlive(lastButOne)).toBe(true)
    })
  )

  it.scoped("end with bytes that no request has asked for", () =>
    Effect.gen(function* () {
      const connections = yield* make
      const [socket] = yield* opened(connections, "one", 1)
      if (socket === undefined) return yield* Effect.dieMessage("there is a socket")
      connections.keepSocketAlive(socket)
      const closed = new Promise((resolve) => socket.once("close", resolve))
      socket.push("HTTP/1.1 200 OK\r\n\r\n")
      yield* Effect.promise(() => closed)
    })
  )
})
