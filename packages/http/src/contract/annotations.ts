/** How an endpoint is served, beyond its schemas: `endpoint.annotate(Limiter, "login")`. */
import * as OpenApi from "@effect/platform/OpenApi"
import { CurrentActor } from "@atelier/core/access"
import type { Forbidden } from "@atelier/core/platform"
import { Context, type Effect, type Schema } from "effect"

/** The purpose of an operation, in a few words and in full: `endpoint.annotateContext(operation("Get a group", "Returns …"))`. */
export const operation = (summary: string, description: string) => OpenApi.annotations({ summary, description })

/** The limiter that counts the endpoint's calls in addition to the limiter of the whole API. identity.md §1.8. */
export class Limiter extends Context.Reference<Limiter>()("@atelier/http/contract/Limiter", {
  defaultValue: (): "none" | "login" | "files" => "none"
}) {}

/** The endpoint's answer goes on for as long as the client listens. One that does not say so cannot stream. */
export class Streaming extends Context.Reference<Streaming>()("@atelier/http/contract/Streaming", {
  defaultValue: () => false
}) {}

/** The messages of a stream, and how a client goes on after it was cut. The handler sends them; this is for the description and the client. */
export interface MessageForm {
  /** One value: each message is it (`values`), or an event with it (`events`). */
  readonly schema: Schema.Schema.AnyNoContext
  readonly framing: "events" | "values"
  /** `snapshot`: the first value of a connection is the whole. `after`: the parameter `after` takes the id of the last row that was received. */
  readonly resume: "snapshot" | "after"
}

/** The form of a streaming endpoint's messages. Without it, the endpoint exchanges bytes in both directions, and a client cannot repeat any. */
export class Messages extends Context.Reference<Messages>()("@atelier/http/contract/Messages", {
  defaultValue: (): MessageForm | undefined => undefined
}) {}

/**
 * The largest body in bytes, where it is not the usual one: 4 MiB, and 64 KiB at public endpoints, which anonymous callers reach.
 * identity.md §1.4.
 */
export class BodyLimit extends Context.Reference<BodyLimit>()("@atelier/http/contract/BodyLimit", {
  defaultValue: (): number | undefined => undefined
}) {}

/** Bytes of a body that an endpoint takes. Middleware of public endpoints provides no actor. */
export const bodyLimitOf = (
  annotations: Context.Context<never>,
  middlewares: Iterable<{ readonly provides?: { readonly key: string } | undefined }>
): number => {
  const isPublic = ![...middlewares].some(({ provides }) => provides?.key === CurrentActor.key)
  return Context.get(annotations, BodyLimit) ?? (isPublic ? 64 * 1024 : 4 * 1024 * 1024)
}

/**
 * The right of the caller that is judged before the form of a request is refused. Elsewhere the form comes first, as it is public. The use case
 * judges the right again.
 */
export class RightFirst extends Context.Reference<RightFirst>()("@atelier/http/contract/RightFirst", {
  defaultValue: (): Effect.Effect<void, Forbidden, CurrentActor> | undefined => undefined
}) {}

/** A request without a body counts as one with an empty object. */
export class OptionalBody extends Context.Reference<OptionalBody>()("@atelier/http/contract/OptionalBody", {
  defaultValue: () => false
}) {}

/** The path works with a slash behind it too: that of a collection or of the root of a sub-tree. identity.md §1.5. */
export class TrailingSlash extends Context.Reference<TrailingSlash>()("@atelier/http/contract/TrailingSlash", {
  defaultValue: () => false
}) {}

/** Another path that the endpoint answers at: where it was before. It has the same parameters, and is not described. */
export class AlsoAt extends Context.Reference<AlsoAt>()("@atelier/http/contract/AlsoAt", {
  defaultValue: (): `/${string}` | undefined => undefined
}) {}

/** The media types of a request whose body is read as it arrives, rather than as a schema says. */
export class TakesBytes extends Context.Reference<TakesBytes>()("@atelier/http/contract/TakesBytes", {
  defaultValue: (): ReadonlyArray<string> => []
}) {}

/** Answers that the handler writes itself, by status and media type, in addition to those of the endpoint's schema. */
export class AlsoAnswers extends Context.Reference<AlsoAnswers>()("@atelier/http/contract/AlsoAnswers", {
  defaultValue: (): Readonly<Record<string, Readonly<Record<string, { readonly schema: object }>>>> => ({})
}) {}

/** A WebSocket's messages also come as server-sent events, for requests that accept these and ask for no upgrade. */
export class AlsoEvents extends Context.Reference<AlsoEvents>()("@atelier/http/contract/AlsoEvents", {
  defaultValue: () => false
}) {}

/** Lines of a log as text, and its rows over a WebSocket. */
export const logForms = { "200": { "text/plain": { schema: { type: "string" } } }, "101": {} } as const
