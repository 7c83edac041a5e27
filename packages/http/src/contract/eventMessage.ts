/** How an event is a message of a WebSocket. agents-and-apps.md §0. */
import { Schema } from "effect"
import { Response } from "../wire/errors.js"

/** An event with its type. */
export interface EventMessage<A> {
  readonly type: "data" | "error" | "ping"
  readonly data: A | Response | null
}

/** The schema of such messages. */
export const eventMessage = <A, I>(schema: Schema.Schema<A, I>) =>
  Schema.Struct({ type: Schema.Literal("data", "error", "ping"), data: Schema.Union(schema, Response, Schema.Null) })
