/** JSON documents over a WebSocket, one way. agents-and-apps.md §0. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type { Entitled } from "@atelier/core/access"
import { Effect, ParseResult, type Schema, Stream } from "effect"
import { schemaIn, Wire } from "../dialect.js"
import { stringify } from "../server/json.js"
import { type Options, WebSockets } from "./WebSockets.js"

/** Encodes values as lines, in the dialect in force. */
export const encoder = <A, I>(schema: Schema.Schema<A, I>) =>
  Effect.map(Wire, (wire) => {
    const encode = ParseResult.encodeSync(schemaIn(wire, schema))
    return (value: A): string => stringify(encode(value)).trimEnd()
  })

/** Sends each value as a text message while it drops what the client sends. */
export const jsonSocket = <A, I, E, R>(
  request: HttpServerRequest.HttpServerRequest,
  schema: Schema.Schema<A, I>,
  { right, values }: Entitled<A, E, R>,
  options?: Options
) =>
  Effect.gen(function* () {
    const { serve } = yield* WebSockets
    const encode = yield* encoder(schema)
    return yield* serve(
      request,
      right,
      ({ messages, send }) =>
        Effect.raceFirst(
          Stream.runForEach(values, (value) => send(encode(value))),
          Stream.runDrain(messages)
        ),
      options
    )
  })
