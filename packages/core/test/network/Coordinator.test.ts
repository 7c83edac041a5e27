import { Coordinator, type PeerPolicy } from "@atelier/core/network"
import { Uuid } from "@atelier/core/platform"
import { expect, it } from "@effect/vitest"
import { Effect, Stream } from "effect"

const [client, agent] = [Uuid.Uuid.make("018f0000-0000-7000-8000-00000000000a"), Uuid.Uuid.make("018f0000-0000-7000-8000-00000000000b")]
const nothing = { node: undefined, addTunnel: undefined, removeTunnel: undefined, disconnects: false, readyFor: [] }
const open: PeerPolicy = { refuseNode: () => undefined, mayBeReady: false, openTunnel: () => Effect.succeed(undefined) }

it.scoped("gives back what a tunnel has taken when its right ends", () =>
  Effect.gen(function* () {
    const coordinator = yield* Coordinator
    let held = 0
    let revoke = (): void => {}
    const hold = Effect.acquireRelease(
      Effect.sync(() => held++),
      () => Effect.sync(() => held--)
    )
    const peer = yield* coordinator.connect(client, {
      ...open,
      openTunnel: (_, revoked) => {
        revoke = revoked
        return Effect.as(hold, undefined)
      }
    })
    for (let count = 0; count < 5; count++) {
      yield* peer.handle({ ...nothing, addTunnel: agent })
      revoke()
      yield* Effect.yieldNow()
    }
    expect([held, coordinator.ownPeer(client)?.tunnels]).toStrictEqual([0, []])
  }).pipe(Effect.provide(Coordinator.layer))
)

it.scoped("keeps one of two connections that began in the same millisecond", () =>
  Effect.gen(function* () {
    const [first, second] = yield* Effect.all([
      Effect.provide(Coordinator, Coordinator.layer),
      Effect.provide(Coordinator, Coordinator.layer)
    ])
    for (const { connect } of [first, second]) yield* connect(client, open)
    const [ofFirst, ofSecond] = [first.ownPeer(client), second.ownPeer(client)]
    if (ofFirst === undefined || ofSecond === undefined) throw new Error("the peer is not connected")
    expect(ofFirst.connectedAt).toBe(ofSecond.connectedAt)
    expect([first.meet(ofSecond, false), second.meet(ofFirst, true)]).toStrictEqual([true, false])
    expect([first.own().length, second.own().length]).toStrictEqual([0, 1])
    expect([first.isConnected(client), second.isConnected(client)]).toStrictEqual([true, true])
  })
)

it.scoped("gives a peer that comes back only the tunnels that it has a right to now", () =>
  Effect.gen(function* () {
    const coordinator = yield* Coordinator
    const former = yield* coordinator.connect(client, open)
    const other = Uuid.Uuid.make("018f0000-0000-7000-8000-00000000000c")
    for (const addTunnel of [agent, other]) yield* former.handle({ ...nothing, addTunnel })
    const node = { addresses: [], allowed_ips: [], content: new Uint8Array([1]) }
    for (const id of [agent, other]) {
      const peer = yield* coordinator.connect(id, open)
      yield* peer.handle({ ...nothing, node })
    }
    const back = yield* coordinator.connect(client, { ...open, openTunnel: (to) => Effect.succeed(to === agent ? undefined : "no") })
    expect(coordinator.ownPeer(client)?.tunnels).toStrictEqual([agent])
    yield* back.leave
    const told = Array.from(yield* Stream.runCollect(back.messages))
    expect(told.flatMap(({ updates }) => updates.map(({ id, kind }) => [id, kind]))).toStrictEqual([
      [other, "DISCONNECTED"],
      [agent, "NODE"]
    ])
  }).pipe(Effect.provide(Coordinator.layer))
)
