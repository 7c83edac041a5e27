/** Output of the daemon as lines of a build's log, bounded. */
import { Chunk, Effect, Stream } from "effect"
import type { Readable } from "node:stream"
import { DaemonError } from "./DockerDaemon.js"

/** Characters of a line that a log is given. */
const maximumLine = 2_000

export const shortened = (line: string): string => (line.length > maximumLine ? `${line.slice(0, maximumLine)}…` : line)

const broken = (cause: unknown): DaemonError =>
  new DaemonError({ message: `the connection to the Docker daemon was lost: ${cause instanceof Error ? cause.message : String(cause)}` })

/** The end of its iterator would wait for bytes that are asked for, and a daemon may have none to say for hours. */
const endingAtOnce = (readable: Readable): AsyncIterable<Uint8Array> => ({
  [Symbol.asyncIterator]: () => {
    const bytes: AsyncIterator<Uint8Array> = readable[Symbol.asyncIterator]()
    return {
      next: () => bytes.next(),
      return: async () => {
        readable.destroy()
        return { done: true, value: undefined }
      }
    }
  }
})

/** The bytes of a stream of the daemon, which is destroyed once its reader ends. */
export const bytesOf = (readable: Readable): Stream.Stream<Uint8Array, DaemonError> =>
  Stream.fromAsyncIterable(endingAtOnce(readable), broken)

/** Ends of lines within a text, as terminals have them too. */
const lineEnd = /\r\n|\n|\r/

/** Texts as lines. A line without an end is cut where it is longer than any reader wants. */
export const splitLines = <E>(texts: Stream.Stream<string, E>): Stream.Stream<string, E> =>
  texts.pipe(
    Stream.map((text): string | undefined => text),
    Stream.concat(Stream.succeed(undefined)),
    Stream.mapAccum("", (rest, text) => {
      const lines = (rest + (text ?? "")).split(lineEnd)
      const last = text === undefined || (lines.at(-1)?.length ?? 0) > maximumLine * 8 ? "" : (lines.pop() ?? "")
      return [last, Chunk.fromIterable(lines)]
    }),
    Stream.flattenChunks,
    Stream.filter((line) => line !== "")
  )

/** The messages of a stream of JSON, one a line. */
export const messagesOf = (readable: Readable): Stream.Stream<Readonly<Record<string, unknown>>, DaemonError> =>
  bytesOf(readable).pipe(
    Stream.decodeText(),
    splitLines,
    Stream.mapEffect((line) =>
      Effect.try({
        try: (): Readonly<Record<string, unknown>> => {
          const value: unknown = JSON.parse(line)
          return typeof value === "object" && value !== null ? { ...value } : {}
        },
        catch: () => new DaemonError({ message: `the Docker daemon answers what is no JSON: ${line.slice(0, 200)}` })
      })
    )
  )

/** Bytes of the header before each piece of a container's log. Docker Engine API, "ContainerAttach". */
const headerSize = 8

/** The output of a container without a terminal, both of its streams in their order. */
export const outputOf = (readable: Readable): Stream.Stream<string, DaemonError> =>
  bytesOf(readable).pipe(
    Stream.mapAccum(Buffer.alloc(0), (before, bytes) => {
      const pieces: Array<Uint8Array> = []
      let rest = before.length === 0 ? Buffer.from(bytes) : Buffer.concat([before, bytes])
      while (rest.length >= headerSize) {
        const end = headerSize + rest.readUInt32BE(4)
        if (rest.length < end) break
        pieces.push(rest.subarray(headerSize, end))
        rest = rest.subarray(end)
      }
      return [rest, Chunk.fromIterable(pieces)]
    }),
    Stream.flattenChunks,
    Stream.decodeText(),
    splitLines
  )
