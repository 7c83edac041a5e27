import { Data, Either, Option, Schema } from "effect"
import { ByteBuffer, concatenate } from "./ByteBuffer.js"

/**
 * The reconnecting terminal between server and agent: the server writes one `Init`, then passes the client's requests on; the agent answers raw
 * terminal output. Spec: agents-and-apps.md §18.
 */

const UInt16 = Schema.Int.pipe(Schema.between(0, 0xffff))

/** Which terminal to attach to, or to start. Named as on the wire. */
export const Init = Schema.Struct({
  /** The client's `reconnect` id: the same one attaches to the same terminal. */
  ID: Schema.UUID,
  Height: UInt16,
  Width: UInt16,
  /** Empty for the login shell. */
  Command: Schema.String,
  Container: Schema.String,
  ContainerUser: Schema.String,
  BackendType: Schema.String
})
export type Init = typeof Init.Type

/** Typed input, or a new size: a height and width count if both are given and not zero. */
export const Request = Schema.Struct({
  data: Schema.optionalWith(Schema.String, { exact: true, nullable: true }),
  height: Schema.optionalWith(UInt16, { exact: true, nullable: true }),
  width: Schema.optionalWith(UInt16, { exact: true, nullable: true })
})
export type Request = typeof Request.Type

/** Bytes of one request: what a paste into a terminal may have. */
export const maximumRequestBytes = 1024 * 1024

export class PtyError extends Data.TaggedError("PtyError")<{ readonly message: string }> {}

/** Bytes of the length that precedes an `Init`. */
const lengthBytes = 2

const decodeInit = Schema.decodeEither(Schema.parseJson(Init))
const decodeRequest = Schema.decodeEither(Schema.parseJson(Request))

const malformed = (error: { readonly message: string }) => new PtyError({ message: error.message })

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

/** The length (little-endian, 16 bits) and the JSON; fails where it is longer than the length can say. */
export const encodeInit = (init: Init): Either.Either<Uint8Array, PtyError> => {
  const json = new TextEncoder().encode(JSON.stringify(init))
  if (json.length > 0xffff) return Either.left(new PtyError({ message: "The terminal's description is too long" }))
  const length = new Uint8Array([json.length % 0x100, Math.floor(json.length / 0x100)])
  return Either.right(concatenate([length, json]))
}

/** Reads the one `Init` that begins a connection, from bytes chunked anyhow. */
export class InitDecoder {
  private readonly buffer = new ByteBuffer()

  /** None while bytes are missing; then the description, and the bytes behind it that belong to the requests. */
  decode(chunk: Uint8Array): Either.Either<Option.Option<{ readonly init: Init; readonly rest: Uint8Array }>, PtyError> {
    this.buffer.append(chunk)
    const bytes = this.buffer.take()
    const [low, high] = bytes
    const end = lengthBytes + (low ?? 0) + (high ?? 0) * 0x100
    if (high === undefined || bytes.length < end) {
      this.buffer.append(bytes)
      return Either.right(Option.none())
    }
    return Either.mapBoth(decodeInit(textOf(bytes.subarray(lengthBytes, end))), {
      onLeft: malformed,
      onRight: (init) => Option.some({ init, rest: bytes.subarray(end) })
    })
  }
}

/** One request; requests follow each other without anything between them. */
export const encodeRequest = (request: Request): Uint8Array => new TextEncoder().encode(JSON.stringify(request))

const Byte = { openBrace: 0x7b, closeBrace: 0x7d, openBracket: 0x5b, closeBracket: 0x5d, quote: 0x22, backslash: 0x5c } as const

const isSpace = (byte: number) => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d

/** Finds the requests in bytes chunked anyhow. */
export class RequestDecoder {
  private readonly buffer = new ByteBuffer()
  private depth = 0
  private inString = false
  private escaped = false
  private broken = false

  /** Returns the requests that `chunk` completes, or an error; after an error no more are found. */
  decode(chunk: Uint8Array): ReadonlyArray<Either.Either<Request, PtyError>> {
    const found: Array<Either.Either<Request, PtyError>> = []
    const add = (request: Either.Either<Request, PtyError>) => {
      this.broken = Either.isLeft(request)
      found.push(request)
    }
    let from = 0
    for (let at = 0; at < chunk.length && !this.broken; at++) {
      const byte = chunk[at] ?? 0
      if (this.depth === 0) {
        from = at
        if (isSpace(byte)) continue
        if (byte !== Byte.openBrace) add(Either.left(new PtyError({ message: "A request is a JSON object" })))
      }
      this.scan(byte)
      if (this.buffer.size + at + 1 - from > maximumRequestBytes) add(Either.left(new PtyError({ message: "A request is too long" })))
      else if (this.depth === 0 && !this.broken) {
        this.buffer.append(chunk.subarray(from, at + 1))
        add(Either.mapLeft(decodeRequest(textOf(this.buffer.take())), malformed))
        from = at + 1
      }
    }
    if (this.depth > 0 && !this.broken) this.buffer.append(chunk.subarray(from))
    return found
  }

  /** Follows braces outside of strings. */
  private scan(byte: number): void {
    if (this.escaped) this.escaped = false
    else if (this.inString) {
      if (byte === Byte.backslash) this.escaped = true
      else if (byte === Byte.quote) this.inString = false
    } else if (byte === Byte.quote) this.inString = true
    else if (byte === Byte.openBrace || byte === Byte.openBracket) this.depth += 1
    else if (byte === Byte.closeBrace || byte === Byte.closeBracket) this.depth -= 1
  }
}
