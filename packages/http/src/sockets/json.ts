/** JSON documents over a WebSocket, one way. agents-and-apps.md §0. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type { Entitled } from "@atelier/core/access"
import { Effect, type Schema, type SchemaAST } from "effect"
import { type Dialect, schemaIn, Wire } from "../wire/dialect.js"
import { encoder as encoderOf } from "../server/codec/encoder.js"
import { compact } from "../server/codec/json.js"
import { writer } from "../server/codec/writer.js"
import { CloseSocket } from "./closing.js"
import { type Options, WebSockets } from "./WebSockets.js"

/** Encoders of each dialect by their types: one for each open stream would take a third of a KB. */
const encoders: Readonly<Record<Dialect, WeakMap<SchemaAST.AST, unknown>>> = { standard: new WeakMap(), reference: new WeakMap() }

/** Writes documents as answers are written: the texts of values that `keptText` marks are kept. */
const writerOf = (ast: SchemaAST.AST): ((value: unknown) => string) => {
  const write = writer(ast)
  if (write !== undefined) return write
  const encode = encoderOf(ast)
  return (value) => compact(encode(value))
}

/** Encodes values as documents that end in a line feed, in the dialect in force. wire.md §5.4. */
export const encoder = <A, I>(schema: Schema.Schema<A, I>): Effect.Effect<(value: A) => string> =>
  Effect.map(Wire, (wire) => {
    // An encoder of a type takes the values of that type
    const known = encoders[wire].get(schema.ast) as ((value: A) => string) | undefined
    if (known !== undefined) return known
    const write = writerOf(schemaIn(wire, schema).ast)
    const made = (value: A): string => `${write(value)}\n`
    encoders[wire].set(schema.ast, made)
    return made
  })

const done = new CloseSocket({ code: 1000, reason: "done" })

const oneWay = { code: 1008, reason: "unexpected data message" } as const

/** Sends each value as a text message, and closes with 1000 and the reason `done`. A client that sends anything is closed with 1008. */
export const jsonSocket = <A, I, E>(
  request: HttpServerRequest.HttpServerRequest,
  schema: Schema.Schema<A, I>,
  { right, values }: Entitled<A, E>,
  options?: Options
) =>
  Effect.gen(function* () {
    const { tell } = yield* WebSockets
    return yield* tell(request, right, { values, messageOf: yield* encoder(schema), last: done, oneWay }, options)
  })
