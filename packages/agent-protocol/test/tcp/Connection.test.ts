import { createHash, randomBytes } from "node:crypto"
import { expect, it } from "vitest"
import { bufferLength, Connection } from "../../src/tcp/Connection.js"
import { Flag, type Segment } from "../../src/tcp/Segment.js"

const start = 1_000_000

/** Numbers from 0 to 1 that are the same in each run. */
const numbers = (seed: number) => {
  let state = seed
  return (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** The sequence numbers with which the ends begin: those of one run over soon. */
const firstNumbers = [0xffff_ff00, 77] as const

interface Way {
  /** The share of segments that are lost, and that arrive twice. */
  readonly loss?: number
  readonly repeats?: number
  /** Milliseconds that a segment takes, and how much longer some take. */
  readonly delay?: number
  readonly jitter?: number
  readonly seed?: number
  /** Whether the ends know no scaled windows. */
  readonly isUnscaled?: boolean
}

/** Two ends, whose openings cross: each gets that of the other one as an answer to its own. */
const pair = ({ delay = 20, isUnscaled = false, jitter = 0, loss = 0, repeats = 0, seed = 1 }: Way = {}) => {
  const random = numbers(seed)
  let now = start
  let underway: Array<{ readonly at: number; readonly to: 0 | 1; readonly segment: Segment }> = []
  const sent: Array<Segment> = []
  const send = (from: 0 | 1) => (segment: Segment) => {
    sent.push(segment)
    const isOpening = (segment.flags & Flag.syn) !== 0
    const copies = !isOpening && random() < loss ? 0 : random() < repeats ? 2 : 1
    const arriving = isOpening
      ? {
          ...segment,
          flags: Flag.syn | Flag.ack,
          acknowledgment: (firstNumbers[from === 0 ? 1 : 0] + 1) >>> 0,
          windowScale: isUnscaled ? undefined : segment.windowScale
        }
      : segment
    for (let copy = 0; copy < copies; copy++)
      underway.push({ at: now + delay + random() * jitter, to: from === 0 ? 1 : 0, segment: arriving })
  }
  const open = (at: 0 | 1): Connection =>
    new Connection({
      localPort: 5 + at,
      remotePort: 6 - at,
      sequence: firstNumbers[at],
      send: send(at),
      changed: () => undefined,
      now
    })
  const connections = [open(0), open(1)] as const
  /** Lets some milliseconds pass, and calls a function in each. */
  const pass = (milliseconds: number, each: () => void = () => undefined): void => {
    for (const end = now + milliseconds; now < end; now++) {
      const arriving = underway.filter(({ at }) => at <= now).toSorted((one, other) => one.at - other.at)
      underway = underway.filter(({ at }) => at > now)
      for (const { segment, to } of arriving) connections[to].take(segment, now)
      for (const connection of connections) connection.flush()
      if (now % 10 === 0) for (const connection of connections) connection.tick(now)
      each()
    }
  }
  return { connections, pass, sent, now: () => now, cut: () => (underway = []) }
}

/** Writes some bytes and reads what arrives, as fast as the connection takes them. */
const transfer = (connection: Connection, bytes: Uint8Array, now: () => number) => {
  let written = 0
  const received: Array<Uint8Array> = []
  return {
    step: (): void => {
      const some = bytes.subarray(written, written + connection.room)
      if (some.length > 0) {
        connection.write(some, now())
        written += some.length
      }
      if (connection.isOpen && written === bytes.length) connection.finish(now())
      for (let read = connection.read(); read !== undefined; read = connection.read()) received.push(read)
    },
    digest: () => createHash("sha256").update(Buffer.concat(received)).digest("hex")
  }
}

const digestOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

it.each<readonly [string, Way]>([
  ["in order", {}],
  ["out of order", { jitter: 30 }],
  ["with a loss of 3 in 100, copies, and out of order", { loss: 0.03, repeats: 0.03, jitter: 10, seed: 3 }],
  ["with a loss of 30 in 100", { loss: 0.3, seed: 4 }]
])("all bytes arrive in their order both ways on a way that delivers %s", (_, way) => {
  const { connections, now, pass } = pair(way)
  const bytes = randomBytes(way.loss === 0.3 ? 30_000 : 700_000)
  const transfers = connections.map((connection) => transfer(connection, bytes, now))
  for (let seconds = 0; seconds < 400 && !connections.every(({ isRead }) => isRead); seconds++) {
    pass(1000, () => transfers.forEach(({ step }) => step()))
  }
  expect(transfers.map(({ digest }) => digest())).toStrictEqual([digestOf(bytes), digestOf(bytes)])
  pass(70_000)
  expect(connections.map((connection) => [connection.endReason, connection.isOver(now())])).toStrictEqual([
    [undefined, true],
    [undefined, true]
  ])
})

it("a reader who reads nothing holds the writer back, and goes on later", () => {
  const { connections, now, pass } = pair()
  const [writer, reader] = connections
  pass(100)
  let written = 0
  const push = (): void => {
    const length = writer.room
    if (length === 0 || written + length > 3 * bufferLength) return
    writer.write(new Uint8Array(length), now())
    written += length
  }
  // As long as the peer says that it has no room, the connection stays
  pass(300_000, push)
  expect(written).toBe(2 * bufferLength)
  let read = 0
  pass(10_000, () => {
    for (let some = reader.read(); some !== undefined; some = reader.read()) read += some.length
  })
  expect(read).toBe(2 * bufferLength)
  expect([writer.endReason, reader.endReason]).toStrictEqual([undefined, undefined])
})

it("a reader tells a writer without scaled windows at once that there is room again", () => {
  const { connections, now, pass, sent } = pair({ isUnscaled: true })
  const [writer, reader] = connections
  pass(10_000, () => {
    if (writer.room > 0) writer.write(new Uint8Array(writer.room), now())
  })
  expect(sent.at(-1)).toMatchObject({ window: 0 })
  const before = sent.length
  while (reader.read() !== undefined);
  expect(sent.length).toBeGreaterThan(before)
  expect(sent.at(-1)?.window).toBeGreaterThan(30_000)
})

it("the end of the bytes is sent again to a peer without a window", () => {
  const { connections, cut, now, pass, sent } = pair()
  const [connection] = connections
  pass(100)
  const [sequence, acknowledgment] = [firstNumbers[1] + 1, firstNumbers[0] + 1]
  connection.take(
    { sourcePort: 6, destinationPort: 5, sequence, acknowledgment, flags: Flag.ack, window: 0, data: new Uint8Array(0) },
    now()
  )
  connection.finish(now())
  pass(5000, cut)
  expect(sent.filter(({ flags }) => (flags & Flag.fin) !== 0).length).toBeGreaterThan(1)
})

it("a lost segment is sent again after three duplicates, without waiting for the timer", () => {
  const { connections, now, pass, sent, cut } = pair({ delay: 5 })
  const [writer, reader] = connections
  pass(100)
  writer.write(new Uint8Array(1220), now())
  cut()
  writer.write(new Uint8Array(6 * 1220), now())
  pass(50)
  let read = 0
  for (let some = reader.read(); some !== undefined; some = reader.read()) read += some.length
  expect(read).toBe(7 * 1220)
  expect(sent.filter(({ data }) => data.length > 0)).toHaveLength(8)
})

it("a peer that has gone ends the connection", () => {
  const { connections, cut, now, pass } = pair()
  const [writer, reader] = connections
  pass(100)
  writer.write(new Uint8Array(10), now())
  pass(80_000, cut)
  expect([writer.endReason, reader.endReason]).toStrictEqual(["unanswered", "unanswered"])
})

it("a connection that one end breaks off is reset at the other", () => {
  const { connections, pass } = pair()
  pass(100)
  connections[0].abort()
  pass(100)
  expect([connections[0].endReason, connections[1].endReason]).toStrictEqual(["aborted", "reset"])
})

it("random segments end no loop, take no memory beyond the buffers, and break no connection", () => {
  const random = numbers(9)
  const { connections, now, pass, sent } = pair()
  const [connection] = connections
  pass(100)
  connection.write(new Uint8Array(5000), now())
  const near = (base: number): number => (base + Math.floor((random() - 0.5) * 2 ** (1 + random() * 20))) >>> 0
  const { acknowledgment, sequence } = sent.at(-1) ?? { acknowledgment: 0, sequence: 0 }
  const before = sent.length
  for (let count = 0; count < 20_000 && connection.endReason === undefined; count++) {
    connection.take(
      {
        sourcePort: 6,
        destinationPort: 5,
        sequence: near(acknowledgment),
        acknowledgment: near(sequence),
        // Without the flag that breaks connections off
        flags: Math.floor(random() * 64) & ~Flag.rst,
        window: Math.floor(random() * 65_536),
        data: new Uint8Array(Math.floor(random() * 1220))
      },
      now()
    )
    connection.flush()
    if (count % 100 === 0) connection.tick(now() + count)
  }
  // An answer or two to each
  expect(sent.length - before).toBeLessThan(3 * 20_000)
  let read = 0
  for (let some = connection.read(); some !== undefined; some = connection.read()) read += some.length
  expect(read).toBeLessThanOrEqual(bufferLength)
})
