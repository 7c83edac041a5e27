/** Files in pieces, as daemons and the service send them to each other. Spec: templates-and-provisioning.md §8.4. */
import { Data, Effect, Stream } from "effect"
import { ByteBuffer, concatenate } from "./ByteBuffer.js"
import type { InitOf, TypeOf } from "./messages/Protobuf.js"
import type * as Provisioner from "./messages/Provisioner.js"

type Sent = InitOf<typeof Provisioner.FileUpload>
type Received = TypeOf<typeof Provisioner.FileUpload>

/** Bytes of each piece but the last. */
export const pieceSize = 2 * 1024 * 1024

/** Bytes of a whole file. */
export const maximumSize = 100 * 1024 * 1024

const hashSize = 32

/** The sender broke a rule, or has no file to send. */
export class FileRefused extends Data.TaggedError("FileRefused")<{ readonly message: string }> {}

/** A file to send. */
export interface File<E = never> {
  /** In bytes. */
  readonly size: number
  /** SHA-256 of the content. */
  readonly hash: Uint8Array
  readonly content: Stream.Stream<Uint8Array, E>
}

export const sha256 = (content: Uint8Array): Effect.Effect<Uint8Array> =>
  Effect.map(
    // A copy: the type of the content allows shared memory, which cannot be hashed
    Effect.promise(() => globalThis.crypto.subtle.digest("SHA-256", new Uint8Array(content))),
    (digest) => new Uint8Array(digest)
  )

const isEqual = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, index) => byte === other[index])

/** The content in pieces of `pieceSize`, and a last smaller one. */
const inPieces = <E>(content: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E> =>
  Stream.suspend(() => {
    const waiting = new ByteBuffer()
    const whole = (arrived: Uint8Array): ReadonlyArray<Uint8Array> => {
      const pieces: Array<Uint8Array> = []
      let from = 0
      while (waiting.size + arrived.length - from >= pieceSize) {
        const until = from + pieceSize - waiting.size
        waiting.append(arrived.subarray(from, until))
        pieces.push(waiting.take())
        from = until
      }
      waiting.append(arrived.subarray(from))
      return pieces
    }
    const rest = Stream.suspend(() => (waiting.size === 0 ? Stream.empty : Stream.make(waiting.take())))
    return Stream.concat(Stream.mapConcat(content, whole), rest)
  })

/** The messages that carry a file of modules, read as they are sent. */
export const messages = <E>({ content, hash, size }: File<E>): Stream.Stream<Sent, E> => {
  const announcement: Sent = {
    type: {
      case: "data_upload",
      value: { upload_type: "MODULE_FILES", data_hash: hash, file_size: size, chunks: Math.ceil(size / pieceSize) }
    }
  }
  const pieces = Stream.map(Stream.zipWithIndex(inPieces(content)), ([data, piece_index]): Sent => ({
    type: { case: "chunk_piece", value: { data, full_data_hash: hash, piece_index } }
  }))
  return Stream.concat(Stream.make(announcement), pieces)
}

/** The message of a sender that has no such file. */
export const refusal = (error: string): Sent => ({ type: { case: "error", value: { error } } })

interface Arriving {
  readonly announced: { readonly data_hash: Uint8Array; readonly file_size: number; readonly chunks: number }
  readonly pieces: Array<Uint8Array>
  size: number
}

const begun = ({ type }: Received, maximum: number): Effect.Effect<Arriving, FileRefused> => {
  const refuse = (message: string) => new FileRefused({ message })
  if (type?.case === "error") return refuse(type.value.error)
  if (type?.case !== "data_upload") return refuse("a file begins with its size and hash")
  const { chunks, data_hash, file_size, upload_type } = type.value
  if (upload_type !== "MODULE_FILES") return refuse("files of this kind are not exchanged")
  if (data_hash.length !== hashSize) return refuse(`the hash has ${data_hash.length} bytes instead of ${hashSize}`)
  if (file_size < 0 || file_size > maximum) return refuse(`a file has at most ${maximum} bytes`)
  if (chunks < 0 || chunks > Math.ceil(file_size / pieceSize)) return refuse("the file has more pieces than its size needs")
  return Effect.succeed({ announced: { data_hash, file_size, chunks }, pieces: [], size: 0 })
}

const taken = (arriving: Arriving, { type }: Received): Effect.Effect<void, FileRefused> => {
  const { announced, pieces } = arriving
  const refuse = (message: string) => new FileRefused({ message })
  if (type?.case === "error") return refuse(type.value.error)
  if (type?.case !== "chunk_piece") return refuse("a file's beginning is followed by its pieces")
  const { data, full_data_hash, piece_index } = type.value
  if (piece_index !== pieces.length || piece_index >= announced.chunks) return refuse(`piece ${piece_index} is not the next one`)
  if (!isEqual(full_data_hash, announced.data_hash)) return refuse("a piece is of another file")
  if (data.length > pieceSize || arriving.size + data.length > announced.file_size) return refuse("a piece is too large")
  pieces.push(data)
  arriving.size += data.length
  return Effect.void
}

/**
 * Receives a file of modules. Memory grows with what arrives, not with what is announced. Fails with `FileRefused` at the first message that
 * breaks a rule, and if the whole is not what was announced.
 */
export const receive = <E>(
  sent: Stream.Stream<Received, E>,
  maximum = maximumSize
): Effect.Effect<{ readonly content: Uint8Array; readonly hash: Uint8Array }, E | FileRefused> =>
  Effect.gen(function* () {
    let arriving: Arriving | undefined
    yield* Stream.runForEach(sent, (message) =>
      Effect.gen(function* () {
        if (arriving === undefined) arriving = yield* begun(message, maximum)
        else yield* taken(arriving, message)
      })
    )
    if (arriving === undefined) return yield* new FileRefused({ message: "there is no file" })
    const { announced, pieces, size } = arriving
    if (size !== announced.file_size) {
      return yield* new FileRefused({ message: `the file has ${size} bytes instead of ${announced.file_size}` })
    }
    const content = concatenate(pieces)
    const hash = yield* sha256(content)
    if (!isEqual(hash, announced.data_hash)) return yield* new FileRefused({ message: "the file has another hash" })
    return { content, hash }
  })
