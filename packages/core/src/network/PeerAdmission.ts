import { Effect, Exit, Mailbox, Scope, type Clock } from "effect"
import type { Event, PeerId, PeerMessage } from "./Coordination.js"
import type { PeerPolicy, PeerConnection, PeerRequest } from "./Coordinator.js"

/** Messages that wait for a peer to read them. */
const maximumWaiting = 512

/** Tunnels that one peer has open at a time: each is a stream of its caller, who has others. */
const maximumTunnels = 500

/** Bytes of a node. */
const maximumNode = 32 * 1024

export interface Connected {
  readonly connectedAt: number
  readonly mailbox: Mailbox.Mailbox<PeerMessage>
  /** With the rights to them. */
  readonly tunnels: Map<PeerId, Scope.CloseableScope>
}

interface Needs {
  readonly clock: Clock.Clock
  readonly connections: Map<PeerId, Connected>
  readonly apply: (event: Event) => void
  readonly runFork: <A, E>(effect: Effect.Effect<A, E>) => unknown
  readonly enter: (id: PeerId, connection: Connected) => void
}

/** The connection of a peer: what it may ask for, and what ends with it. */
export const peerAdmission = ({ clock, connections, apply, runFork, enter }: Needs) => {
  const connect = (id: PeerId, policy: PeerPolicy): Effect.Effect<PeerConnection, never, Scope.Scope> =>
    Effect.gen(function* () {
      const mailbox = yield* Mailbox.make<PeerMessage>({ capacity: maximumWaiting, strategy: "dropping" })
      const own: Connected = { connectedAt: clock.unsafeCurrentTimeMillis(), mailbox, tunnels: new Map() }
      const isCurrent = (): boolean => connections.get(id) === own
      /** Connections that are made afterwards end at once. */
      let hasLeft = false

      const end = (event: "Disconnected" | "Lost"): void => {
        if (isCurrent()) {
          connections.delete(id)
          apply({ _tag: event, id })
        }
        mailbox.unsafeDone(Exit.void)
      }

      const refuse = (reason: string): void => {
        mailbox.unsafeOffer({ to: id, updates: [], error: `authorization: ${reason}` })
        end("Lost")
      }

      const closeTunnel = (to: PeerId) => {
        const scope = own.tunnels.get(to)
        own.tunnels.delete(to)
        if (isCurrent()) apply({ _tag: "TunnelRemoved", id, to })
        return scope === undefined ? Effect.void : Scope.close(scope, Exit.void)
      }

      /** Notes a tunnel if the peer has a right to it. Answers the refusal. */
      const claim = (to: PeerId) =>
        Effect.gen(function* () {
          const scope = yield* Scope.make()
          let isRevoked = false
          const revoke = (): void => {
            isRevoked = true
            if (own.tunnels.get(to) !== scope) return
            own.tunnels.delete(to)
            if (isCurrent()) apply({ _tag: "TunnelRemoved", id, to })
            // What the right has taken, such as a place among the caller's streams, goes with it
            runFork(Scope.close(scope, Exit.void))
          }
          const refusal = yield* Scope.extend(policy.openTunnel(to, revoke), scope)
          if (refusal === undefined && !isRevoked && !hasLeft) own.tunnels.set(to, scope)
          else yield* Scope.close(scope, Exit.void)
          return refusal
        })

      const openTunnel = (to: PeerId) =>
        Effect.gen(function* () {
          if (own.tunnels.has(to)) return true
          if (own.tunnels.size >= maximumTunnels) {
            refuse(`at most ${maximumTunnels} tunnels`)
            return false
          }
          const refusal = yield* claim(to)
          if (refusal !== undefined) {
            refuse(refusal)
            return false
          }
          if (own.tunnels.has(to) && isCurrent()) apply({ _tag: "TunnelAdded", id, to })
          return isCurrent()
        })

      const handle = ({ addTunnel, disconnects, node, readyFor, removeTunnel }: PeerRequest) =>
        Effect.gen(function* () {
          if (!isCurrent()) return false
          if (node !== undefined) {
            const refusal = node.content.length > maximumNode ? `a node of more than ${maximumNode} bytes` : policy.refuseNode(node)
            if (refusal !== undefined) {
              refuse(refusal)
              return false
            }
            apply({ _tag: "Announced", id, node })
          }
          if (addTunnel !== undefined && !(yield* openTunnel(addTunnel))) return false
          if (removeTunnel !== undefined) yield* closeTunnel(removeTunnel)
          if (disconnects) {
            end("Disconnected")
            return false
          }
          if (readyFor.length > 0 && !policy.mayBeReady) {
            refuse("clients may not send ready_for_handshake")
            return false
          }
          for (const to of readyFor) apply({ _tag: "Ready", id, to })
          return isCurrent()
        })

      // A resume token gives the peer its id back, and not the rights of the caller that it was given to
      const inherit = Effect.suspend(() => Effect.forEach(connections.get(id)?.tunnels.keys() ?? [], claim, { discard: true }))
      yield* Effect.acquireRelease(
        Effect.zipRight(
          inherit,
          Effect.sync(() => enter(id, own))
        ),
        () =>
          Effect.suspend(() => {
            hasLeft = true
            end("Lost")
            return Effect.forEach([...own.tunnels.values()], (scope) => Scope.close(scope, Exit.void), { discard: true })
          })
      )
      return {
        messages: Mailbox.toStream(mailbox),
        handle,
        leave: Effect.sync(() => end("Lost")),
        refuse: (reason) =>
          Effect.sync(() => {
            refuse(reason)
            return false
          })
      }
    })

  return { connect }
}
