import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type GoneReason, PacketQueue, type RelayConnection, RelayRouter } from "../../src/network/index.js"

interface Told {
  readonly to: string
  readonly key: string
  readonly reason: GoneReason
}

/** A router, and what its connections were told. */
const house = () => {
  const router = new RelayRouter()
  const told: Array<Told> = []
  const open = (name: string, key: string): RelayConnection & { readonly name: string } => {
    const connection = {
      name,
      key,
      deliver: () => undefined,
      peerGone: (key: string, reason: GoneReason) => void told.push({ to: name, key, reason })
    }
    router.connect(connection)
    return connection
  }
  return { router, told, open }
}

describe("the relay's router", () => {
  it("gives a packet to the connection of its destination", () => {
    const { open, router, told } = house()
    const [a, b] = [open("a", "A"), open("b", "B")]
    expect(router.route(a, "B", 10, false, 0)).toBe(b)
    expect(router.route(a, "A", 10, false, 0)).toBe(a)
    expect(told).toEqual([])
  })

  it("gives packets to the connection that has connected or spoken last", () => {
    const { open, router } = house()
    const [a, b1] = [open("a", "A"), open("b1", "B")]
    const b2 = open("b2", "B")
    const receiver = () => router.route(a, "B", 1, false, 0)
    expect(receiver()).toBe(b2)
    router.spoke(b1)
    expect(receiver()).toBe(b1)
    router.spoke(b2)
    router.disconnect(b2)
    expect(receiver()).toBe(b1)
  })

  it("tells the peers that one has sent to when its last connection closes", () => {
    const { open, router, told } = house()
    const [a, b1, b2] = [open("a", "A"), open("b1", "B"), open("b2", "B")]
    open("c", "C")
    router.route(a, "B", 1, false, 0)
    router.route(b1, "C", 1, false, 0)
    router.disconnect(b1)
    expect(told).toEqual([])
    router.disconnect(b2)
    expect(told).toEqual([{ to: "c", key: "B", reason: "disconnected" }])
  })

  it("tells a peer that came back nothing of one that had sent to it before", () => {
    const { open, router, told } = house()
    const [a, b] = [open("a", "A"), open("b", "B")]
    router.route(a, "B", 1, false, 0)
    router.disconnect(b)
    open("b again", "B")
    router.disconnect(a)
    expect(told).toEqual([])
  })

  it("reports an unknown destination of disco packets at most once a second", () => {
    const { open, router, told } = house()
    const a = open("a", "A")
    const answers = (count: number, now: number, isDisco = true) => {
      const before = told.length
      for (let index = 0; index < count; index++) expect(router.route(a, "Z", 1, isDisco, now)).toBeUndefined()
      return told.length - before
    }
    expect([answers(5, 0, false), answers(5, 0), answers(5, 500), answers(5, 1000), answers(5, 60_000)]).toEqual([0, 3, 0, 1, 3])
    expect(told[0]).toEqual({ to: "a", key: "Z", reason: "not here" })
  })

  it("counts the bytes of connected peers", () => {
    const { open, router } = house()
    const [a, b] = [open("a", "A"), open("b", "B")]
    router.route(a, "B", 10, false, 0)
    router.route(a, "B", 5, false, 0)
    router.route(b, "A", 1, false, 0)
    router.route(b, "Z", 100, false, 0)
    expect(router.traffic()).toEqual([
      { key: "A", sent: 15, received: 1 },
      { key: "B", sent: 1, received: 15 }
    ])
    router.disconnect(b)
    expect(router.traffic().map(({ key }) => key)).toEqual(["A"])
  })

  it("prefers connections to this process, and tells who comes to it and goes", () => {
    const { open, router, told } = house()
    const heard: Array<readonly [string, boolean]> = []
    const leave = router.watch((key, isHere) => void heard.push([key, isHere]))
    const elsewhere: RelayConnection = { key: "B", isElsewhere: true, deliver: () => undefined, peerGone: () => undefined }
    const [a, b] = [open("a", "A"), open("b", "B")]
    router.connect(elsewhere)
    expect(router.route(a, "B", 1, false, 0)).toBe(b)
    router.disconnect(b)
    expect(router.route(a, "B", 1, false, 0)).toBe(elsewhere)
    expect(router.here()).toEqual(["A"])
    expect(router.traffic().map(({ key }) => key)).toEqual(["A"])
    // What B sends comes from the other process, and is not sent on
    expect(router.routeHere("B", "A", 1)).toBe(a)
    expect(router.routeHere("A", "B", 1)).toBeUndefined()
    expect(router.routeHere("A", "Z", 1)).toBeUndefined()
    expect(told).toEqual([])
    router.disconnect(elsewhere)
    expect(told).toEqual([{ to: "a", key: "B", reason: "disconnected" }])
    leave()
    open("c", "C")
    expect(heard).toEqual([
      ["A", true],
      ["B", true],
      ["B", false]
    ])
  })

  it("agrees with a plain model in any order of events", () => {
    const keys = ["A", "B", "C"] as const
    const event = fc.oneof(
      fc.record({ _tag: fc.constant("connect" as const), key: fc.constantFrom(...keys) }),
      fc.record({ _tag: fc.constant("disconnect" as const), at: fc.nat(20) }),
      fc.record({ _tag: fc.constant("send" as const), at: fc.nat(20), to: fc.constantFrom(...keys) })
    )
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const { open, router, told } = house()
        /** Open connections, the one that was heard of last at the end. */
        let open_: Array<ReturnType<typeof open>> = []
        /** Connections that would be told of a key, which later connections of the same key are only while the peer stays. */
        let heard: Array<{ readonly from: string; readonly to: string }> = []
        let count = 0
        for (const event of events) {
          const connection = event._tag === "connect" ? undefined : open_[event.at % Math.max(1, open_.length)]
          if (event._tag === "connect") open_.push(open(String(++count), event.key))
          else if (connection === undefined) continue
          else if (event._tag === "send") {
            router.spoke(connection)
            open_ = [...open_.filter((other) => other !== connection), connection]
            const receiver = open_.findLast(({ key }) => key === event.to)
            expect(router.route(connection, event.to, 1, false, 0)).toBe(receiver)
            if (receiver !== undefined) heard.push({ from: connection.key, to: event.to })
          } else {
            told.length = 0
            open_ = open_.filter((other) => other !== connection)
            router.disconnect(connection)
            const isGone = !open_.some(({ key }) => key === connection.key)
            const expected = isGone
              ? open_.filter(({ key }) => heard.some(({ from, to }) => from === connection.key && to === key)).map(({ name }) => name)
              : []
            expect(told.map(({ to }) => to).toSorted()).toEqual(expected.toSorted())
            if (isGone) heard = heard.filter(({ from, to }) => from !== connection.key && to !== connection.key)
          }
        }
      })
    )
  })

  it("forgets what peers that have gone had sent and heard", () => {
    const { open, router, told } = house()
    const agent = open("agent", "agent")
    for (let index = 0; index < 10_000; index++) {
      const client = open("client", String(index))
      router.route(agent, client.key, 1, false, 0)
      router.route(client, "agent", 1, false, 0)
      router.disconnect(client)
    }
    expect(told).toHaveLength(10_000)
    told.length = 0
    open("last", "last")
    router.route(agent, "last", 1, false, 0)
    router.disconnect(agent)
    expect(told).toEqual([{ to: "last", key: "agent", reason: "disconnected" }])
  })
})

describe("a queue of packets", () => {
  const packet = (length: number, mark = 0) => new Uint8Array(length).fill(mark)
  const all = (queue: PacketQueue) => Array.from({ length: queue.length }, () => queue.take()?.[0])

  it("loses the oldest above its number", () => {
    const queue = new PacketQueue(3, 1000)
    for (let mark = 0; mark < 10; mark++) queue.offer(packet(1, mark))
    expect(all(queue)).toEqual([7, 8, 9])
    expect(queue.take()).toBeUndefined()
  })

  it("loses the oldest above its bytes, and never the last", () => {
    const queue = new PacketQueue(100, 1000)
    for (let mark = 0; mark < 10; mark++) queue.offer(packet(300, mark))
    expect(all(queue)).toEqual([7, 8, 9])
    queue.offer(packet(5000, 1))
    expect(all(queue)).toEqual([1])
  })

  it("keeps order and bounds over a million packets", () => {
    const queue = new PacketQueue(512, 1024 * 1024)
    for (let index = 0; index < 1_000_000; index++) {
      queue.offer(packet(1, index % 256))
      if (index % 1000 === 0) queue.take()
    }
    expect(queue.length).toBe(512)
    expect(all(queue)).toEqual(Array.from({ length: 512 }, (_, index) => (1_000_000 - 512 + index) % 256))
  })
})
