import type { Message } from "../messages/Protobuf.js"

/** How many messages go each way. */
export type MethodKind = "unary" | "serverStreaming" | "clientStreaming" | "bidirectional"

/** One RPC: the messages it takes (`Q`, encoded from `QI`) and answers (`S`, encoded from `SI`). */
export interface Method<K extends MethodKind, Q, QI, S, SI> {
  readonly kind: K
  readonly request: Message<Q, QI>
  readonly response: Message<S, SI>
}

/** The RPC of two messages, by their values. A type that names them this way is short in declarations, which else repeat every field. */
export type MethodOf<K extends MethodKind, Q, S> =
  Q extends Message<infer QA, infer QI> ? (S extends Message<infer SA, infer SI> ? Method<K, QA, QI, SA, SI> : never) : never

const method =
  <K extends MethodKind>(kind: K) =>
  <Q, QI, S, SI>(request: Message<Q, QI>, response: Message<S, SI>): Method<K, Q, QI, S, SI> => ({ kind, request, response })

export const unary = method("unary")
export const serverStreaming = method("serverStreaming")
export const clientStreaming = method("clientStreaming")
export const bidirectional = method("bidirectional")

export type AnyMethod =
  | Method<"unary", unknown, unknown, unknown, unknown>
  | Method<"serverStreaming", unknown, unknown, unknown, unknown>
  | Method<"clientStreaming", unknown, unknown, unknown, unknown>
  | Method<"bidirectional", unknown, unknown, unknown, unknown>

export type Methods = Readonly<Record<string, AnyMethod>>

/** A service as data: servers derive its handlers from it, clients its calls. */
export interface Service<M extends Methods> {
  /** Full name, package included. */
  readonly name: string
  readonly methods: M
}

export const service = <const M extends Methods>(name: string, methods: M): Service<M> => ({ name, methods })

/** The name of a method in a call. */
export const path = (service: { readonly name: string }, method: string): string => `/${service.name}/${method}`
