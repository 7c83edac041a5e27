import { Coordination } from "@atelier/core/network"
import { Uuid } from "@atelier/core/platform"
import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"

const idOf = (index: number) => Uuid.Uuid.make(`00000000-0000-4000-8000-00000000000${index}`)
const [agent, client, other] = [idOf(1), idOf(2), idOf(3)]

const nodeOf = (content: number): Coordination.PeerNode => ({ addresses: [], allowed_ips: [], content: Uint8Array.of(content) })

/** What each peer is told of the last of some events. */
const told = (events: ReadonlyArray<Coordination.Event>): ReadonlyArray<Coordination.PeerMessage> => {
  let state = Coordination.empty
  let messages: ReadonlyArray<Coordination.PeerMessage> = []
  for (const event of events) ({ messages, state } = Coordination.after(state, event))
  return messages
}

const connected = (id: Uuid.Uuid): Coordination.Event => ({ _tag: "Connected", id })
const announced = (id: Uuid.Uuid, content: number): Coordination.Event => ({ _tag: "Announced", id, node: nodeOf(content) })
const tunnel = (id: Uuid.Uuid, to: Uuid.Uuid): Coordination.Event => ({ _tag: "TunnelAdded", id, to })

const isNode = (to: Uuid.Uuid, id: Uuid.Uuid, content: number) => ({ to, updates: [{ id, kind: "NODE", node: nodeOf(content) }] })
const isGone = (to: Uuid.Uuid, id: Uuid.Uuid, kind: string, reason: string) => ({ to, updates: [{ id, kind, reason }] })

const both = [connected(agent), announced(agent, 1), connected(client), announced(client, 2)]
const introduced = [...both, tunnel(client, agent)]

describe("a peer", () => {
  it.each<readonly [string, ReadonlyArray<Coordination.Event>, ReadonlyArray<unknown>]>([
    ["that connects is told of nobody", [connected(client)], []],
    ["that announces itself without a tunnel is told to nobody", both, []],
    ["that adds a tunnel and the other are told of each other", introduced, [isNode(client, agent, 1), isNode(agent, client, 2)]],
    ["that adds a tunnel again is told nothing", [...introduced, tunnel(client, agent)], []],
    ["that adds a tunnel to one who is not there is told of it later", [connected(client), tunnel(client, agent)], []],
    [
      "who was not there is announced when it comes",
      [connected(client), announced(client, 2), tunnel(client, agent), connected(agent), announced(agent, 1)],
      [isNode(client, agent, 1)]
    ],
    [
      "who comes is told of those with tunnels to it",
      [connected(client), announced(client, 2), tunnel(client, agent), connected(agent)],
      [isNode(agent, client, 2)]
    ],
    ["that announces a change is told to the other", [...introduced, announced(agent, 3)], [isNode(client, agent, 3)]],
    ["that announces the same again is not", [...introduced, announced(agent, 1)], []],
    [
      "that removes its tunnel and the other part",
      [...introduced, { _tag: "TunnelRemoved", id: client, to: agent }],
      [isGone(client, agent, "DISCONNECTED", "remove tunnel"), isGone(agent, client, "DISCONNECTED", "remove tunnel")]
    ],
    [
      "that removes one of two tunnels stays introduced",
      [...introduced, tunnel(agent, client), { _tag: "TunnelRemoved", id: client, to: agent }],
      []
    ],
    ["that removes a tunnel it has not is told nothing", [...both, { _tag: "TunnelRemoved", id: client, to: agent }], []],
    [
      "that leaves is told to have gone",
      [...introduced, { _tag: "Disconnected", id: client }],
      [isGone(agent, client, "DISCONNECTED", "graceful disconnect")]
    ],
    ["that is lost is told to be", [...introduced, { _tag: "Lost", id: agent }], [isGone(client, agent, "LOST", "lost")]],
    [
      "who returns is told to those with tunnels to it",
      [...introduced, { _tag: "Lost", id: agent }, connected(agent), announced(agent, 4)],
      [isNode(client, agent, 4)]
    ],
    ["that returned has lost its own tunnels", [...introduced, { _tag: "Lost", id: client }, connected(client), announced(client, 5)], []],
    ["that was never told of does not go", [connected(agent), connected(client), tunnel(client, agent), { _tag: "Lost", id: agent }], []],
    ["that comes twice keeps its tunnels, and is told all anew", [...introduced, connected(client)], [isNode(client, agent, 1)]],
    [
      "that is ready is told to the other",
      [...introduced, { _tag: "Ready", id: agent, to: client }],
      [isGone(client, agent, "READY_FOR_HANDSHAKE", "")]
    ],
    [
      "that is ready for a stranger gets an error",
      [...introduced, { _tag: "Ready", id: agent, to: other }],
      [{ to: agent, updates: [], error: `ready for handshake error: you do not share a tunnel with "${other}"` }]
    ],
    ["that is not connected changes nothing", [announced(client, 1), tunnel(client, agent), connected(agent)], []]
  ])("%s", (_, events, messages) => {
    expect(told(events)).toStrictEqual(messages)
  })

  it("with many others is told of them in several messages", () => {
    let { state } = Coordination.after(Coordination.empty, connected(client))
    const agents = Array.from({ length: 1500 }, (_, index) => Uuid.Uuid.make(`00000000-0000-4000-8000-${String(index).padStart(12, "0")}`))
    for (const id of agents) {
      for (const event of [connected(id), announced(id, 1), tunnel(client, id)]) ({ state } = Coordination.after(state, event))
    }
    const { messages } = Coordination.after(state, connected(client))
    expect(messages.map(({ updates }) => updates.length)).toStrictEqual([1024, 476])
  })
})

const peer = fc.integer({ min: 0, max: 3 }).map(idOf)
const anyEvent: fc.Arbitrary<Coordination.Event> = fc.oneof(
  fc.record({ _tag: fc.constantFrom("Connected" as const, "Disconnected" as const, "Lost" as const), id: peer }),
  fc.record({ _tag: fc.constant("Announced" as const), id: peer, node: fc.integer({ min: 0, max: 5 }).map(nodeOf) }),
  fc.record({ _tag: fc.constantFrom("TunnelAdded" as const, "TunnelRemoved" as const, "Ready" as const), id: peer, to: peer })
)

describe("peers", () => {
  it("know the latest nodes of those with whom they share a tunnel, and no others", () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 60 }), (events) => {
        let state = Coordination.empty
        const connectedPeers = new Set<string>()
        const nodes = new Map<string, Coordination.PeerNode>()
        const tunnels = new Set<string>()
        /** What each has been told and not been told to be gone. */
        const known = new Map<string, Map<string, Coordination.PeerNode>>()
        for (const event of events) {
          const { messages, state: next } = Coordination.after(state, event)
          state = next
          const { id } = event
          if (event._tag === "Connected") {
            connectedPeers.add(id)
            known.set(id, new Map())
          } else if (connectedPeers.has(id)) {
            if (event._tag === "Announced") nodes.set(id, event.node)
            if (event._tag === "TunnelAdded") tunnels.add(`${id} ${event.to}`)
            if (event._tag === "TunnelRemoved") tunnels.delete(`${id} ${event.to}`)
            if (event._tag === "Disconnected" || event._tag === "Lost") {
              connectedPeers.delete(id)
              nodes.delete(id)
              known.delete(id)
              for (const pair of tunnels) if (pair.startsWith(id)) tunnels.delete(pair)
            }
          }
          for (const { to, updates } of messages) {
            for (const update of updates) {
              if (update.kind === "NODE") known.get(to)?.set(update.id, update.node)
              if (update.kind === "LOST" || update.kind === "DISCONNECTED") known.get(to)?.delete(update.id)
            }
          }
          for (const one of connectedPeers) {
            const expected = [...nodes].filter(([two]) => tunnels.has(`${one} ${two}`) || tunnels.has(`${two} ${one}`))
            const sorted = (pairs: Iterable<readonly [string, Coordination.PeerNode]>) =>
              Array.from(pairs, ([key, { content }]) => `${key} ${String(content)}`).toSorted()
            expect(sorted(known.get(one) ?? [])).toStrictEqual(sorted(expected))
          }
        }
      }),
      { numRuns: 500 }
    )
  })
})
