/** Introduces the peers of the private network that are connected to this process. agents-and-apps.md §16. */
import { Context, Effect, Exit, Layer, Mailbox, Scope, Stream } from "effect"
import { after, empty, type Event, type PeerId, type PeerMessage, type PeerNode, peersOf, type PeerView } from "./Coordination.js"

/** The requests in one message of a peer; they are handled in this order. */
export interface PeerRequest {
  readonly node?: PeerNode | undefined
  readonly addTunnel?: PeerId | undefined
  readonly removeTunnel?: PeerId | undefined
  readonly disconnects: boolean
  /** Peers that it is ready for. */
  readonly readyFor: ReadonlyArray<PeerId>
}

/** What a peer may ask for. A refusal is its reason. */
export interface PeerPolicy {
  readonly refuseNode: (node: PeerNode) => string | undefined
  /** Asks for the right to a tunnel, which the peer has until the scope closes. `revoke` ends the tunnel before that. */
  readonly openTunnel: (to: PeerId, revoke: () => void) => Effect.Effect<string | undefined, never, Scope.Scope>
  readonly mayBeReady: boolean
}

/** A peer's connection. */
export interface PeerConnection {
  /** What the peer is told; ends with the peer's part in the coordination. */
  readonly messages: Stream.Stream<PeerMessage>
  /** Handles a message of the peer. False once its part is over. */
  readonly handle: (request: PeerRequest) => Effect.Effect<boolean>
  /** The peer sends nothing more: its part ends when it has been told what waits. */
  readonly leave: Effect.Effect<void>
  /** Ends the peer's part, with why. */
  readonly refuse: (reason: string) => Effect.Effect<false>
}

/** Messages that wait for a peer to read them. */
const maximumWaiting = 512

/** Tunnels that one peer has open at a time. */
export const maximumTunnels = 1024

/** Bytes of a node. */
export const maximumNode = 32 * 1024

interface Connected {
  readonly mailbox: Mailbox.Mailbox<PeerMessage>
  /** With the rights to them. A connection that takes the place of another takes them over. */
  tunnels: Map<PeerId, Scope.CloseableScope>
}

const make = Effect.sync(() => {
  let state = empty
  const connections = new Map<PeerId, Connected>()

  const move = (event: Event): ReadonlyArray<PeerMessage> => {
    const { messages, state: next } = after(state, event)
    state = next
    return messages
  }

  const deliver = (messages: ReadonlyArray<PeerMessage>): void => {
    for (const message of messages) {
      const connection = connections.get(message.to)
      if (connection === undefined || connection.mailbox.unsafeOffer(message)) continue
      // A peer that does not read is removed
      connections.delete(message.to)
      connection.mailbox.unsafeDone(Exit.void)
      apply({ _tag: "Disconnected", id: message.to })
    }
  }

  const apply = (event: Event): void => deliver(move(event))

  const enter = (id: PeerId, connection: Connected): void => {
    const [first, ...others] = move({ _tag: "Connected", id })
    const former = connections.get(id)
    connections.set(id, connection)
    if (first === undefined) return
    if (former === undefined) return deliver([first, ...others])
    connection.tunnels = former.tunnels
    former.tunnels = new Map()
    former.mailbox.unsafeOffer(first)
    former.mailbox.unsafeDone(Exit.void)
    deliver(others)
  }

  const connect = (id: PeerId, policy: PeerPolicy): Effect.Effect<PeerConnection, never, Scope.Scope> =>
    Effect.gen(function* () {
      const mailbox = yield* Mailbox.make<PeerMessage>({ capacity: maximumWaiting, strategy: "dropping" })
      const own: Connected = { mailbox, tunnels: new Map() }
      const isCurrent = (): boolean => connections.get(id) === own

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

      const openTunnel = (to: PeerId) =>
        Effect.gen(function* () {
          if (own.tunnels.has(to)) return true
          if (own.tunnels.size >= maximumTunnels) {
            refuse(`at most ${maximumTunnels} tunnels`)
            return false
          }
          const scope = yield* Scope.make()
          let isRevoked = false
          const revoke = (): void => {
            isRevoked = true
            const holder = connections.get(id)
            if (holder?.tunnels.get(to) !== scope) return
            holder.tunnels.delete(to)
            apply({ _tag: "TunnelRemoved", id, to })
          }
          const refusal = yield* Scope.extend(policy.openTunnel(to, revoke), scope)
          if (refusal !== undefined || isRevoked || !isCurrent()) {
            yield* Scope.close(scope, Exit.void)
            if (refusal !== undefined) refuse(refusal)
            return refusal === undefined && isCurrent()
          }
          own.tunnels.set(to, scope)
          apply({ _tag: "TunnelAdded", id, to })
          return true
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

      yield* Effect.acquireRelease(
        Effect.sync(() => enter(id, own)),
        () =>
          Effect.suspend(() => {
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

  return {
    /**
     * Takes a peer in until the scope closes. A peer of the same id that is connected already is replaced: its connection ends. One that does
     * not read what it is told is removed.
     */
    connect,

    /** The peers that are connected, or that others have tunnels to. */
    peers: Effect.sync((): ReadonlyArray<PeerView> => peersOf(state))
  }
})

export class Coordinator extends Context.Tag("@atelier/core/Coordinator")<Coordinator, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.effect(Coordinator, make)
}
