/** How the bytes of an upload get into its file. */
import { mkdtemp, open, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { receive } from "../../../src/machine/files/Upload.js"

let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "atelier-upload-"))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

/** Receives pieces into a new file. Returns what the file has then, and how it ended. */
const received = async (name: string, pieces: AsyncIterable<unknown>, start = 0) => {
  const path = join(directory, name)
  const handle = await open(path, "w")
  try {
    const [ended] = await Promise.allSettled([receive(pieces, handle, start)])
    return { ended, content: await readFile(path) }
  } finally {
    await handle.close()
  }
}

const inPieces = (bytes: Buffer, size: number): ReadonlyArray<Buffer> =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size))

async function* arriving(pieces: ReadonlyArray<unknown>) {
  yield* pieces
}

async function* breakingOff(pieces: ReadonlyArray<unknown>) {
  yield* pieces
  throw new Error("broken off")
}

describe("receive", () => {
  const bytes = Buffer.from(Array.from({ length: 3_000_000 }, (_, index) => index % 251))

  it.each([1_000, 65_536, 1_000_000])("writes all bytes in their order, in pieces of %i", async (size) => {
    const { content, ended } = await received(`pieces-${size}`, arriving(inPieces(bytes, size)))
    expect(ended).toStrictEqual({ status: "fulfilled", value: bytes.length })
    expect(content.equals(bytes)).toBe(true)
  })

  it("begins at the given position, and passes over empty pieces", async () => {
    const { content, ended } = await received("start", arriving([Buffer.from("b"), new Uint8Array(0), Buffer.from("c")]), 2)
    expect(ended).toStrictEqual({ status: "fulfilled", value: 4 })
    expect(content.toString()).toBe("\0\0bc")
  })

  it("keeps what has arrived of a stream that breaks off", async () => {
    const { content, ended } = await received("broken", breakingOff(inPieces(bytes, 50_000)))
    expect(ended).toMatchObject({ status: "rejected", reason: { message: "broken off" } })
    expect(content.equals(bytes)).toBe(true)
  })

  it("fails with the error of a write, and takes no more of an endless stream", async () => {
    const path = join(directory, "read-only")
    await (await open(path, "w")).close()
    const handle = await open(path, "r")
    const endless = (async function* () {
      for (;;) yield bytes.subarray(0, 65_536)
    })()
    await expect(receive(endless, handle)).rejects.toMatchObject({ code: "EBADF" })
    await handle.close()
  })
})
