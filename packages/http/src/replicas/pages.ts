/** Where other processes of the deployment reach agents and clients of the relay that are connected to this one. agents-and-apps.md §17. */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Relay as Protocol } from "@atelier/agent-protocol"
import { DeploymentOptions, Replicas } from "@atelier/core/deployment"
import { AgentLinks, Relay, type RelayRouter } from "@atelier/core/network"
import { NotFound, Unauthenticated, type Uuid } from "@atelier/core/platform"
import { Chunk, Deferred, Effect, Mailbox, Option, Stream } from "effect"
import { UpgradeRequired } from "../wire/errors.js"
import { keyOfText } from "../relay/RelayClient.js"
import { RelayServer } from "../relay/RelayServer.js"
import { CurrentRequest, type RequestInfo } from "../server/request/CurrentRequest.js"
import { Draining } from "../server/operate/Draining.js"
import type { Page } from "../server/pipeline/HttpApplication.js"
import { refuse } from "../server/codec/respond.js"
import { Heartbeat } from "../server/operate/Heartbeat.js"
import { StoreFaults } from "../server/operate/StoreFaults.js"
import { byteStream } from "../sockets/byteStream.js"
import { refuseHandshake } from "../sockets/handshake.js"
import { betweenProcesses } from "../sockets/heartbeat.js"
import { CloseSocket } from "../sockets/closing.js"
import { upgrade } from "../sockets/upgrade.js"
import type { Connection } from "../sockets/Connection.js"
import { type Options, runSocket } from "../sockets/WebSockets.js"
import { Passes } from "./Passes.js"
import { serveStreams } from "./serveStreams.js"
import { sessionOver } from "./session.js"
import { answerHeader, keysPerMessage, maximumMessage, Presence, relayPath, streamsPath } from "./wire.js"

const { RelayFrame } = Protocol

/** Tells another process which clients the relay has here, and gives these what it forwards to them. */
const relayed = ({ messages, send }: Connection, router: RelayRouter, { flush, forwarded }: RelayServer["Type"]) =>
  Effect.gen(function* () {
    const news = yield* Mailbox.make<Uint8Array>()
    const named = (kind: number, keys: ReadonlyArray<string>): Uint8Array => Buffer.concat([Uint8Array.of(kind), ...keys.map(keyOfText)])
    yield* Effect.acquireRelease(
      Effect.sync(() => router.watch((key, isHere) => void news.unsafeOffer(named(isHere ? Presence.here : Presence.gone, [key])))),
      (leave) => Effect.sync(leave)
    )
    for (const keys of Chunk.chunksOf(Chunk.fromIterable(router.here()), keysPerMessage)) {
      yield* send(named(Presence.here, Chunk.toReadonlyArray(keys)))
    }
    const input = Stream.runForEach(messages, (message) =>
      Effect.suspend(() => {
        if (typeof message === "string" || !isForwarded(message)) return new CloseSocket({ code: 1002, reason: "No packet was sent." })
        forwarded(message.subarray(0, RelayFrame.keyLength), message.subarray(RelayFrame.keyLength))
        flush()
        return Effect.void
      })
    )
    yield* Effect.raceFirst(input, Stream.runForEach(Mailbox.toStream(news), send))
  }).pipe(Effect.scoped)

const shortest = RelayFrame.keyLength + RelayFrame.headerLength + RelayFrame.keyLength

/** Whether a message is the key of a destination, and a RecvPacket of the length that it says. */
const isForwarded = (message: Uint8Array): boolean => {
  if (message.length < shortest || message.length > shortest + RelayFrame.maximumPacket) return false
  const frame = message.subarray(RelayFrame.keyLength)
  const length = new DataView(frame.buffer, frame.byteOffset).getUint32(1)
  return RelayFrame.typeOf(frame) === RelayFrame.FrameType.RecvPacket && length === frame.length - RelayFrame.headerLength
}

/** The routes of other processes. Without their pass nothing is told, not even whether an agent is here. */
export const replicaPages = Effect.gen(function* () {
  const { id } = yield* Replicas
  const links = yield* AgentLinks
  const { router } = yield* Relay
  const relay = yield* RelayServer
  const passes = yield* Passes
  const draining = yield* Draining
  const faults = yield* StoreFaults
  const heartbeats = yield* Heartbeat
  const { derpServerEnable } = yield* DeploymentOptions

  /** Serves a socket to who shows a pass; `prepare` says what for, or refuses. */
  const served = (
    path: `/${string}`,
    options: Options,
    prepare: (
      agent_id: Uuid.Uuid | null,
      info: RequestInfo
    ) => HttpServerResponse.HttpServerResponse | ((connection: Connection) => Effect.Effect<void, unknown>)
  ): Page => ({
    method: "GET",
    path,
    handler: Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const [, text = ""] = /^Replica (\S+)$/.exec(request.headers["authorization"] ?? "") ?? []
      const pass = yield* passes.redeem(text, id)
      if (Option.isNone(pass)) return refuse(new Unauthenticated({ message: "This address is for other processes of the service." }))
      const refusal = refuseHandshake(request, [])
      if (refusal !== undefined) return refusal
      const info = yield* CurrentRequest
      const prepared = prepare(pass.value.agent_id, info)
      if (typeof prepared !== "function") return prepared
      const socket = upgrade(request, maximumMessage, {}, { [answerHeader]: pass.value.answer })
      if (socket === undefined) return refuse(new UpgradeRequired({ message: "The connection cannot be upgraded." }))
      info.counted?.upgraded()
      const over = yield* Deferred.make<void, unknown>()
      const run = runSocket(socket, over, prepared, { draining, faults, heartbeats }, options)
      yield* Effect.ensuring(run, Effect.sync(socket.release))
      return HttpServerResponse.empty()
    })
  })

  return [
    served(streamsPath, byteStream, (agent_id, info) => {
      if (agent_id === null || links.of(agent_id) === undefined) return refuse(new NotFound({ resource: "workspace_agent" }))
      return (connection) =>
        sessionOver(connection, "server").pipe(
          Effect.flatMap((session) => serveStreams(session, { agent_id, info, links })),
          Effect.scoped,
          // The other process ends its connections
          Effect.ignore
        )
    }),
    served(relayPath, { ...betweenProcesses, sendWithin: "60 seconds" }, (agent_id) =>
      agent_id === null && derpServerEnable ? (connection) => relayed(connection, router, relay) : refuse(new NotFound({}))
    )
  ]
})
