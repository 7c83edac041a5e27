/** Answers that are written while they are read from the store. */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Chunk, Effect, ParseResult, type Schema, Stream } from "effect"
import { schemaIn, Wire } from "../dialect.js"
import { stringify } from "./json.js"

const encoder = new TextEncoder()

/** A list as a JSON array, in the dialect in force. */
export const jsonArray = <A, I>(item: Schema.Schema<A, I>, items: Stream.Stream<A>): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.map(Wire, (wire) => {
    const encode = ParseResult.encodeSync(schemaIn(wire, item))
    let separator = ""
    const body = items.pipe(
      Stream.mapChunks((chunk) => {
        if (Chunk.isEmpty(chunk)) return Chunk.empty()
        const texts = Chunk.toReadonlyArray(chunk).map((value) => stringify(encode(value)).trimEnd())
        const text = separator + texts.join(",")
        separator = ","
        return Chunk.of(encoder.encode(text))
      })
    )
    const bytes = Stream.make(encoder.encode("[")).pipe(Stream.concat(body), Stream.concat(Stream.make(encoder.encode("]\n"))))
    return HttpServerResponse.stream(bytes, { status: 200, contentType: "application/json; charset=utf-8" })
  })

/** Lines of plain text, each with its line feed. */
export const textLines = (lines: Stream.Stream<string>): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.stream(
    Stream.mapChunks(lines, (chunk) => Chunk.of(encoder.encode(Chunk.join(chunk, "")))),
    { status: 200, contentType: "text/plain; charset=utf-8" }
  )
