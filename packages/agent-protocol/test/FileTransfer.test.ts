import { Chunk, Effect, Either, Stream } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as FileTransfer from "../src/FileTransfer.js"
import { FileUpload } from "../src/messages/Provisioner.js"
import type { InitOf, TypeOf } from "../src/messages/Protobuf.js"

type Sent = InitOf<typeof FileUpload>
type Received = TypeOf<typeof FileUpload>

const bytes = Uint8Array.from({ length: 2 * FileTransfer.pieceSize + 1 }, (_, index) => index % 251)
const content = (size: number): Uint8Array => bytes.subarray(0, size)

/** The messages as they arrive on the other side. */
const sent = async (whole: Uint8Array, parts: ReadonlyArray<Uint8Array> = [whole]): Promise<Array<Sent>> => {
  const hash = await Effect.runPromise(FileTransfer.sha256(whole))
  const messages = FileTransfer.messages({ size: whole.length, hash, content: Stream.fromIterable(parts) })
  return Chunk.toArray(await Effect.runPromise(Stream.runCollect(messages)))
}

const arriving = (messages: ReadonlyArray<Sent>): Stream.Stream<Received> =>
  Stream.mapEffect(Stream.fromIterable(messages), (message) =>
    Effect.orDie(Effect.flatMap(FileUpload.encode(message), (bytes) => FileUpload.decode(bytes)))
  )

const received = (messages: ReadonlyArray<Sent>) => Effect.runPromise(Effect.either(FileTransfer.receive(arriving(messages))))

const refusal = async (messages: ReadonlyArray<Sent>): Promise<string> =>
  Either.match(await received(messages), { onLeft: ({ message }) => message, onRight: () => "" })

const ofTwoPieces = sent(content(FileTransfer.pieceSize + 5))

/** A file of two pieces, with one of its messages changed. */
const changed = async (index: number, change: object): Promise<ReadonlyArray<Sent>> =>
  (await ofTwoPieces).map((message, at) =>
    at === index && message.type !== undefined
      ? ({ type: { case: message.type.case, value: { ...message.type.value, ...change } } } as Sent)
      : message
  )

describe("files in pieces", () => {
  it("announce their size, hash and number of pieces, and repeat the hash", async () => {
    const messages = await sent(bytes)
    const hash = await Effect.runPromise(FileTransfer.sha256(bytes))
    expect(messages.map(({ type }) => type?.case)).toStrictEqual(["data_upload", "chunk_piece", "chunk_piece", "chunk_piece"])
    expect(messages[0]?.type?.value).toStrictEqual({
      upload_type: "MODULE_FILES",
      data_hash: hash,
      file_size: 2 * FileTransfer.pieceSize + 1,
      chunks: 3
    })
    expect(messages[3]?.type?.value).toMatchObject({ piece_index: 2, full_data_hash: hash, data: bytes.subarray(-1) })
  })

  it("arrive whole, however their sender reads them", () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 3_000_000 }), { maxLength: 3 }), async (sizes) => {
        const parts = sizes.map(content)
        const whole = new Uint8Array(Buffer.concat(parts))
        const result = await received(await sent(whole, parts))
        expect(Either.isRight(result) && Buffer.compare(result.right.content, whole)).toBe(0)
      }),
      { numRuns: 6 }
    ))

  it.each([
    ["a hash of another length", 0, { data_hash: new Uint8Array(31) }, "31 bytes"],
    ["an unknown kind", 0, { upload_type: "UNKNOWN" }, "kind"],
    ["more than 100 MiB", 0, { file_size: FileTransfer.maximumSize + 1 }, "at most"],
    ["more pieces than the size needs", 0, { chunks: 3 }, "more pieces"],
    ["fewer pieces than are sent", 0, { chunks: 1 }, "not the next"],
    ["a piece out of turn", 1, { piece_index: 1 }, "not the next"],
    ["a piece of another file", 2, { full_data_hash: new Uint8Array(32) }, "another file"],
    ["a piece that is too large", 1, { data: content(FileTransfer.pieceSize + 1) }, "too large"],
    ["more bytes than announced", 2, { data: content(6) }, "too large"],
    ["fewer bytes than announced", 2, { data: content(4) }, "instead of"],
    ["other bytes than announced", 2, { data: new Uint8Array(5) }, "another hash"]
  ])("are refused with %s", async (_, index, change, reason) => {
    expect(await refusal(await changed(index, change))).toContain(reason)
  })

  it("are refused without a beginning, with two, and with the sender's reason", async () => {
    const [first, ...pieces] = await sent(content(5))
    expect(await refusal(pieces)).toContain("begins with")
    expect(await refusal([])).toBe("there is no file")
    expect(await refusal(first === undefined ? [] : [first, first])).toContain("followed by")
    expect(await refusal([FileTransfer.refusal("no such file")])).toBe("no such file")
  })
})
