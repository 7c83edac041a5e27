/**
 * The services that requests run with. Everything else that handlers and services need they take when they are built: Effect copies a
 * fiber's services whenever one is added, which with those of the whole application would cost more than what requests do.
 */
import { StreamRights } from "@atelier/core/access"
import { AuditRepository } from "@atelier/core/audit"
import { Cryptography, EventBus, Ids, Locks, Transactor } from "@atelier/core/platform"
import { Context, Layer } from "effect"
import { Draining } from "../server/operate/Draining.js"
import { FeedRuntime } from "../server/operate/FeedRuntime.js"
import { Heartbeat } from "../server/operate/Heartbeat.js"
import { Settings } from "../server/request/Settings.js"
import { WebSockets } from "../sockets/WebSockets.js"

/** The services that use cases and the helpers of handlers need while they run. */
const carried = [
  Transactor,
  EventBus,
  AuditRepository,
  Ids,
  Cryptography,
  Locks,
  Settings,
  Draining,
  Heartbeat,
  FeedRuntime,
  StreamRights,
  WebSockets
] as const

export type Carried = Context.Tag.Identifier<(typeof carried)[number]>

/** Values of the deployment's references (`Context.Reference`), which every request may read. */
export class RequestReferences extends Context.Reference<RequestReferences>()("@atelier/http/RequestReferences", {
  defaultValue: (): Context.Context<never> => Context.empty()
}) {
  /** Keeps what a layer provides for requests too. */
  static readonly keep = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A | RequestReferences, E, R> =>
    Layer.map(layer, (references) => Context.add(references, RequestReferences, references as Context.Context<never>))
}

/** Those of the given services that requests run with. */
export const carriedOf = (services: Context.Context<never>): Map<string, unknown> => {
  const result = new Map<string, unknown>(Context.get(services, RequestReferences).unsafeMap)
  for (const { key } of carried) if (services.unsafeMap.has(key)) result.set(key, services.unsafeMap.get(key))
  return result
}
