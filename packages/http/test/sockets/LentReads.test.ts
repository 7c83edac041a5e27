import { binaryFrames, Loans, takeBinary } from "@atelier/agent-protocol"
import { randomBytes, randomInt } from "node:crypto"
import { once } from "node:events"
import { connect, createServer, type Socket } from "node:net"
import { setImmediate as nextTurn } from "node:timers/promises"
import { connect as connectTls, createServer as createTlsServer, type TLSSocket } from "node:tls"
import { describe, expect, it, onTestFinished } from "vitest"
import { certificate } from "../../../../test/outside/mailServer.js"
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

/** Counts the pieces of memory that reads may take. */
const left = (): number => {
  const all: Array<Uint8Array> = []
  for (let bytes = Loans.take(); bytes !== undefined; bytes = Loans.take()) all.push(bytes)
  for (const bytes of all) Loans.lend(bytes, 0)
  return all.length
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
    expect(left()).toBe(64)
  })

  it("leaves memory for others while connections wait after full reads", async () => {
    const whole = Loans.slabBytes * 32
    const stops = [Loans.slabBytes, whole, whole + Loans.slabBytes]
    for (const bytes of stops) {
      const [accepted, client] = await aConnection()
      let count = 0
      accepted.pause()
      // All of it is there for the first read
      await new Promise((resolve) => client.write(Buffer.alloc(bytes), resolve))
      accepted.on("data", () => undefined)
      readLent(accepted, (piece) => {
        count += piece.length
        Loans.giveBack(piece.buffer, piece.length)
      })
      accepted.resume()
      await expect.poll(() => count).toBe(bytes)
      await nextTurn()
      expect(left()).toBe(64)
    }
  })

  it("leaves memory for others while its reader has the connection wait", async () => {
    const [accepted, client] = await aConnection()
    client.write(Buffer.alloc(4 * Loans.slabBytes))
    let count = 0
    readLent(
      accepted.on("data", () => undefined),
      (piece) => {
        count += piece.length
        Loans.giveBack(piece.buffer, piece.length)
        accepted.pause()
      }
    )
    await expect.poll(() => count).toBeGreaterThan(0)
    expect(left()).toBe(64)
  })

  it("is not lent with TLS, and is what was sent", async () => {
    const server = createTlsServer(certificate).listen(0, "127.0.0.1")
    await once(server, "listening")
    const address = server.address()
    const client = connectTls({
      port: typeof address === "object" && address !== null ? address.port : 0,
      host: "127.0.0.1",
      rejectUnauthorized: false
    })
    const accepted = await new Promise<TLSSocket>((resolve) => server.once("secureConnection", resolve))
    onTestFinished(() => {
      client.destroy()
      accepted.destroy()
      server.close()
    })
    const got: Array<Buffer> = []
    let total = 0
    const receive = (piece: Uint8Array): void => {
      got.push(Buffer.from(piece))
      total += piece.length
      // As readers of lent memory do
      Loans.giveBack(piece.buffer, piece.length)
      spoil()
    }
    accepted.on("data", () => expect.unreachable())
    let isLent = true
    takeBinary(accepted, { isMasked: false, take: receive }, (take) => (isLent = readLent(accepted, take)))
    expect(isLent).toBe(false)
    const bytes = randomBytes(1_000_000)
    const message = Buffer.concat(binaryFrames([bytes], false).frames)
    await Promise.all([sendAll(client, message), untilRead({ total: () => total }, bytes.length)])
    expect(Buffer.concat(got).equals(bytes)).toBe(true)
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
