import { Loans } from "@atelier/agent-protocol"
import { randomBytes, randomInt } from "node:crypto"
import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"
import { setImmediate as nextTurn } from "node:timers/promises"
import { describe, expect, it, onTestFinished } from "vitest"
import { readLent } from "../../src/sockets/lentReads.js"

/** Both ends of a connection: the one that a server has accepted first. */
const aConnection = async (): Promise<readonly [Socket, Socket]> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const client = connect(typeof address === "object" && address !== null ? address.port : 0, "127.0.0.1")
  const accepted = await new Promise<Socket>((resolve) => server.once("connection", resolve))
  await once(client, "connect")
  onTestFinished(() => {
    client.destroy()
    accepted.destroy()
    server.close()
  })
  return [accepted.on("error", () => undefined), client.on("error", () => undefined)]
}

/** Writes over all memory that is free: a reader that still has some of it sees other bytes. */
const spoil = (): void => {
  const all: Array<Uint8Array> = []
  for (let bytes = Loans.take(); bytes !== undefined; bytes = Loans.take()) all.push(bytes)
  for (const bytes of all) {
    bytes.fill(0xee)
    Loans.lend(bytes, 0)
  }
}

/** Sends bytes in pieces of any size, and waits until they have left. */
const sendAll = async (socket: Socket, bytes: Buffer): Promise<void> => {
  for (let from = 0; from < bytes.length;) {
    const to = Math.min(bytes.length, from + randomInt(1, 300_000))
    const left = new Promise((resolve) => socket.write(bytes.subarray(from, to), resolve))
    from = to
    await left
    if (randomInt(4) === 0) await nextTurn()
  }
}

/** Reads bytes that are kept for some time before they are given back, and those that never are. */
const reading = (socket: Socket) => {
  const held: Array<{ readonly bytes: Uint8Array; readonly at: number; readonly isGivenBack: boolean }> = []
  const got: Array<Buffer> = []
  let total = 0
  const settle = (atMost: number): void => {
    while (held.length > atMost) {
      const { bytes, isGivenBack } = held.shift() ?? { bytes: new Uint8Array(0), isGivenBack: false }
      got.push(Buffer.from(bytes))
      if (isGivenBack) Loans.giveBack(bytes.buffer, bytes.length)
      spoil()
    }
  }
  const isLent = readLent(socket, (bytes) => {
    held.push({ bytes, at: total, isGivenBack: randomInt(10) > 0 })
    total += bytes.length
    settle(randomInt(8))
  })
  return {
    isLent,
    total: () => total,
    all: () => {
      settle(0)
      return Buffer.concat(got)
    }
  }
}

const untilRead = async (reader: { readonly total: () => number }, length: number): Promise<void> => {
  while (reader.total() < length) await nextTurn()
}

/** Waits until a text has left for the other end, which could have read it. */
const untilArrived = async (socket: Socket, text: string): Promise<void> => {
  await new Promise((resolve) => socket.write(text, resolve))
  for (let turn = 0; turn < 20; turn++) await nextTurn()
}

describe("what a connection brings in lent memory", () => {
  it("is what was sent, for each of several connections and however long it is kept", async () => {
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        const [accepted, client] = await aConnection()
        accepted.on("data", () => expect.unreachable())
        const reader = reading(accepted)
        expect(reader.isLent).toBe(true)
        const bytes = randomBytes(3_000_000)
        await Promise.all([sendAll(client, bytes), untilRead(reader, bytes.length)])
        expect(reader.all().equals(bytes)).toBe(true)
      })
    )
  })

  it("comes only while the connection is not paused, and behind what was read before", async () => {
    const [accepted, client] = await aConnection()
    accepted.pause()
    accepted.unshift(Buffer.from("before "))
    let got = ""
    const take = (bytes: Uint8Array): void => void (got += Buffer.from(bytes).toString())
    accepted.on("data", take)
    readLent(accepted, take)
    await untilArrived(client, "first ")
    expect(got).toBe("")
    accepted.resume()
    await expect.poll(() => got).toBe("before first ")
    accepted.pause()
    await untilArrived(client, "second ")
    expect(got).toBe("before first ")
    accepted.resume()
    await expect.poll(() => got).toBe("before first second ")
    client.write("third")
    await expect.poll(() => got).toBe("before first second third")
  })

  it("ends with the connection, which keeps no memory of its own", async () => {
    const [accepted, client] = await aConnection()
    let count = 0
    readLent(accepted, (bytes) => {
      count += bytes.length
      Loans.giveBack(bytes.buffer, bytes.length)
    })
    const ended = once(
      accepted.on("data", () => undefined),
      "close"
    )
    client.end(Buffer.alloc(2_000_000))
    await ended
    expect(count).toBe(2_000_000)
    const all: Array<Uint8Array> = []
    for (let bytes = Loans.take(); bytes !== undefined; bytes = Loans.take()) all.push(bytes)
    expect(all).toHaveLength(64)
    for (const bytes of all) Loans.lend(bytes, 0)
  })

  it("comes by events of a connection that its maker reads so already, or whose internals are others", async () => {
    const [accepted] = await aConnection()
    expect(readLent(accepted, () => undefined)).toBe(true)
    expect(readLent(accepted, () => undefined)).toBe(false)
    const [other, client] = await aConnection()
    Reflect.set(other, "_handle", { ...Reflect.get(other, "_handle"), useUserBuffer: undefined })
    expect(readLent(other, () => undefined)).toBe(false)
    client.destroy()
  })
})
