/** The call by which a peer takes part in the private network. agents-and-apps.md §15, §16. */
import { type RpcError, TailnetMessages } from "@atelier/agent-protocol"
import type { Coordination, Coordinator, PeerPolicy, PeerRequest } from "@atelier/core/network"
import type { Uuid } from "@atelier/core/platform"
import { Deferred, Effect, Either, Stream } from "effect"
import { bytesOf, idOf } from "./values.js"

const nodeOf = (node: TailnetMessages.Node): Coordination.PeerNode => ({
  addresses: node.addresses,
  allowed_ips: node.allowed_ips,
  content: Either.getOrThrow(TailnetMessages.Node.encode(node))
})

/** A message of a peer, or why it cannot be understood. */
const requestOf = ({
  add_tunnel,
  disconnect,
  ready_for_handshake,
  remove_tunnel,
  update_self
}: TailnetMessages.CoordinateRequest): Either.Either<PeerRequest, string> => {
  const peer = (what: string, { id }: { readonly id: Uint8Array }) =>
    Either.mapLeft(idOf("id", id), () => `parse ${what} id: invalid UUID (got ${id.length} bytes)`)
  const optional = (what: string, tunnel: { readonly id: Uint8Array } | undefined) =>
    tunnel === undefined ? Either.right(undefined) : peer(what, tunnel)
  return Either.gen(function* () {
    return {
      node: update_self?.node && nodeOf(update_self.node),
      addTunnel: yield* optional("add tunnel", add_tunnel),
      removeTunnel: yield* optional("remove tunnel", remove_tunnel),
      disconnects: disconnect !== undefined,
      readyFor: yield* Either.all(ready_for_handshake.map((ready) => peer("ready for handshake", ready)))
    }
  })
}

const updateMessage = (update: Coordination.PeerUpdate): TailnetMessages.CoordinateResponseInit["peer_updates"] => [
  update.kind === "NODE"
    ? { id: bytesOf(update.id), kind: update.kind, node: Either.getOrThrow(TailnetMessages.Node.decode(update.node.content)), reason: "" }
    : { id: bytesOf(update.id), kind: update.kind, reason: update.reason }
]

const responseOf = ({ error = "", updates }: Coordination.PeerMessage): TailnetMessages.CoordinateResponseInit => ({
  peer_updates: updates.flatMap((update) => updateMessage(update) ?? []),
  error
})

/** Takes part as a peer: reads its requests, and answers what it is told until it goes, or its part is over. */
export const coordinate =
  (coordinator: Coordinator["Type"], peer: Uuid.Uuid, policy: PeerPolicy) =>
  (requests: Stream.Stream<TailnetMessages.CoordinateRequest, RpcError>): Stream.Stream<TailnetMessages.CoordinateResponseInit, RpcError> =>
    Stream.unwrapScoped(
      Effect.gen(function* () {
        const { handle, leave, messages, refuse } = yield* coordinator.connect(peer, policy)
        const broken = yield* Deferred.make<never, RpcError>()
        const reading = requests.pipe(
          Stream.mapEffect((request) => Either.match(requestOf(request), { onLeft: refuse, onRight: handle })),
          Stream.takeUntil((continues) => !continues),
          Stream.runDrain,
          Effect.zipRight(leave),
          // A peer whose requests are read no more must not take itself for connected
          Effect.catchAllCause((cause) => Deferred.failCause(broken, cause))
        )
        yield* Effect.forkScoped(reading)
        return Stream.interruptWhenDeferred(Stream.map(messages, responseOf), broken)
      })
    )
