/** Peers of the private network, as tests of it play them. */
import { TailnetMessages, Uuid as ProtocolUuid } from "@atelier/agent-protocol"
import { addressesOf } from "@atelier/core/network"
import type { Uuid } from "@atelier/core/platform"
import { Deferred, Effect, Fiber, Mailbox, Option, Stream } from "effect"
import type { AgentConnection } from "../agents/AgentServer.js"

export const bytesOf = (id: Uuid.Uuid) => Option.getOrThrow(ProtocolUuid.toBytes(id))

export const nodeOf = (addresses: ReadonlyArray<string>, preferred_derp = 999): TailnetMessages.CoordinateRequestInit => ({
  update_self: { node: { id: 5n, key: Uint8Array.of(1, 2), disco: "discokey:aa", preferred_derp, addresses, allowed_ips: addresses } }
})

export const agentNode = (id: Uuid.Uuid, preferred_derp?: number) =>
  nodeOf(
    addressesOf(id).map((address) => `${address}/128`),
    preferred_derp
  )
export const clientNode = nodeOf(["fd7a:115c:a1e0::17/128"])
export const tunnelTo = (id: Uuid.Uuid): TailnetMessages.CoordinateRequestInit => ({ add_tunnel: { id: bytesOf(id) } })

/** A peer's part in the coordination. */
export const coordinate = ({ tailnet }: AgentConnection) => {
  const [requests, responses] = Effect.runSync(
    Effect.all([Mailbox.make<TailnetMessages.CoordinateRequestInit>(), Mailbox.make<TailnetMessages.CoordinateResponse>()])
  )
  const over = Effect.runSync(Deferred.make<void>())
  const fiber = Effect.runFork(
    tailnet.Coordinate(Mailbox.toStream(requests)).pipe(
      Stream.runForEach((response) => responses.offer(response)),
      Effect.ignore,
      Effect.zipRight(responses.end),
      Effect.zipRight(Deferred.succeed(over, undefined))
    )
  )
  return {
    send: (request: TailnetMessages.CoordinateRequestInit) => void requests.unsafeOffer(request),
    /** The next response: its error, or what it says of other peers. */
    next: async () => {
      const { error, peer_updates } = await Effect.runPromise(responses.take)
      if (error !== "") return error
      return peer_updates.map(({ id, kind, node }) => [
        Option.getOrThrow(ProtocolUuid.fromBytes(id)),
        kind,
        ...(node === undefined ? [] : [node.preferred_derp])
      ])
    },
    over: Effect.runPromise(Deferred.await(over)),
    leave: () => Effect.runPromise(Fiber.interrupt(fiber))
  }
}
