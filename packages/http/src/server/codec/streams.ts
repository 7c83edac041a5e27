/**
 * Answers that are written while they are read from the store: as fast as the client takes them, a chunk of the stream at a time. Between
 * chunks others have their turn, also where the store answers at once. Short answers are written whole. A store that fails before anything
 * is written is answered with 500; later the connection is cut.
 */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Chunk, Effect, Either, type Schema, type Scope, Stream } from "effect"
import { schemaIn, Wire } from "../../wire/dialect.js"
import { encoder } from "./encoder.js"
import { endOfTurn } from "./endOfTurn.js"
import { compact } from "./json.js"

type Answer = Effect.Effect<HttpServerResponse.HttpServerResponse, never, Scope.Scope>

const utf8 = new TextEncoder()

/** Characters of an answer that is written at once, with its length, where that is all of it. */
const maximumWhole = 16_384

const answer = (texts: Stream.Stream<string>, contentType: string, [before, after] = ["", ""]): Answer =>
  Effect.gen(function* () {
    const pull = yield* Stream.toPull(texts)
    let begun = before
    while (begun.length < maximumWhole) {
      const next = yield* Effect.either(pull)
      if (Either.isLeft(next)) {
        const text = begun + after
        return HttpServerResponse.raw(text, { status: 200, contentType, contentLength: Buffer.byteLength(text) })
      }
      begun += Chunk.join(next.right, "")
    }
    const rest = Stream.concat(Stream.repeatEffectChunkOption(pull), Stream.make(after))
    const bytes = Stream.map(Stream.concat(Stream.make(begun), rest), (text) => utf8.encode(text))
    return HttpServerResponse.stream(bytes, { status: 200, contentType })
  })

const jsonType = "application/json; charset=utf-8"

/** A text for each chunk. */
const written = <A>(items: Stream.Stream<A>, write: (chunk: ReadonlyArray<A>) => string): Stream.Stream<string> =>
  Stream.mapChunksEffect(items, (chunk) => Effect.map(endOfTurn, () => Chunk.of(write(Chunk.toReadonlyArray(chunk)))))

/** Encodes what services answer, in the dialect in force. */
const encoderOf = <A, I>(schema: Schema.Schema<A, I>): Effect.Effect<(value: A) => I> =>
  // What the schema encodes has the schema's encoded type
  Effect.map(Wire, (wire) => encoder(schemaIn(wire, schema).ast) as (value: A) => I)

/** A list as a JSON array. */
export const jsonArray = <A, I>(item: Schema.Schema<A, I>, items: Stream.Stream<A>): Answer =>
  Effect.flatMap(encoderOf(item), (encode) => {
    let separator = ""
    const texts = written(items, (chunk) => {
      if (chunk.length === 0) return ""
      const text = separator + compact(chunk.map(encode)).slice(1, -1)
      separator = ","
      return text
    })
    return answer(texts, jsonType, ["[", "]\n"])
  })

/** Objects that have a long list: they come in parts, where whatever has the id of the one before goes on with its list. */
export interface Parts<A, I extends object, Name extends string> {
  readonly schema: Schema.Schema<A, I>
  readonly list: Name & keyof I
  readonly parts: Stream.Stream<A>
}

const objects = <A extends { readonly id: string }, I extends object, Name extends string>({ list, parts, schema }: Parts<A, I, Name>) =>
  Effect.map(encoderOf(schema), (encode) => {
    let open: string | undefined
    let isEmpty = true
    const write = (part: A): string => {
      const { [list]: items, ...rest } = encode(part)
      const elements = compact(items).slice(1, -1)
      const isNew = part.id !== open
      const before = !isNew ? "" : `${open === undefined ? "" : "]},"}${opened(rest, list)}`
      const separator = isNew || isEmpty || elements === "" ? "" : ","
      isEmpty = elements === "" && (isNew || isEmpty)
      open = part.id
      return before + separator + elements
    }
    const last = Stream.suspend(() => (open === undefined ? Stream.empty : Stream.make("]}")))
    return Stream.concat(
      written(parts, (chunk) => chunk.map(write).join("")),
      last
    )
  })

/** The text of an object up to where the elements of a further list, its last field, stand. */
const opened = (object: object, list: string): string => {
  const fields = compact(object).slice(1, -1)
  return `{${fields}${fields === "" ? "" : ","}${compact(list)}:[`
}

/** An object with a long list. */
export const jsonObject = <A extends { readonly id: string }, I extends object, Name extends string>(parts: Parts<A, I, Name>): Answer =>
  Effect.flatMap(objects(parts), (texts) => answer(texts, jsonType, ["", "\n"]))

/** A JSON array of objects with long lists. */
export const jsonObjects = <A extends { readonly id: string }, I extends object, Name extends string>(parts: Parts<A, I, Name>): Answer =>
  Effect.flatMap(objects(parts), (texts) => answer(texts, jsonType, ["[", "]\n"]))

/** The same as the last field of another object, which is given without it. */
export const jsonObjectsIn = <A extends { readonly id: string }, I extends object, Name extends string, B, J extends object>(
  outer: { readonly schema: Schema.Schema<B, J>; readonly value: B; readonly list: string },
  parts: Parts<A, I, Name>
): Answer =>
  Effect.gen(function* () {
    const encode = yield* encoderOf(outer.schema)
    return yield* answer(yield* objects(parts), jsonType, [opened(encode(outer.value), outer.list), "]}\n"])
  })

/** Lines of plain text, each with its line feed. */
export const textLines = (lines: Stream.Stream<string>): Answer =>
  answer(
    written(lines, (chunk) => chunk.join("")),
    "text/plain; charset=utf-8"
  )

/** A text as a file to be saved, whose length is told before it: it is kept until it is whole, as the bytes that are sent. */
export const attachment = (
  texts: Stream.Stream<string>,
  { contentType, filename }: { readonly contentType: string; readonly filename: string }
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.map(
    Stream.runCollect(
      Stream.map(
        written(texts, (chunk) => chunk.join("")),
        (text) => utf8.encode(text)
      )
    ),
    (pieces) =>
      HttpServerResponse.stream(Stream.rechunk(Stream.fromChunk(pieces), 1), {
        status: 200,
        contentType,
        contentLength: Chunk.reduce(pieces, 0, (length, piece) => length + piece.length),
        headers: { "Content-Disposition": `attachment; filename="${filename}"` }
      })
  )
