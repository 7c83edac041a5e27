/**
 * The services that requests run with. Everything else that handlers and services need they take when they are built: Effect copies a
 * fiber's services whenever one is added, which with those of the whole application would cost more than what requests do.
 */
import { StreamRights } from "@atelier/core/access"
import { AuditRepository } from "@atelier/core/audit"
import { Cryptography, EventBus, Ids, Locks, Transactor } from "@atelier/core/platform"
import { Context, Layer } from "effect"
import { Draining } from "../server/Draining.js"
import { Settings } from "../server/Settings.js"
import { WebSockets } from "../sockets/WebSockets.js"

/** What use cases and the helpers of handlers ask for while they run. */
const carried = [Transactor, EventBus, AuditRepository, Ids, Cryptography, Locks, Settings, Draining, StreamRights, WebSockets] as const

export type Carried = Context.Tag.Identifier<(typeof carried)[number]>

/** Values of the deployment's references (`Context.Reference`), which every request may read. */
export class Decisions extends Context.Reference<Decisions>()("@atelier/http/Decisions", {
  defaultValue: (): Context.Context<never> => Context.empty()
}) {
  /** Keeps what a layer provides for requests too. */
  static readonly keep = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A | Decisions, E, R> =>
    Layer.map(layer, (decided) => Context.add(decided, Decisions, decided as Context.Context<never>))
}

/** Those of the given services that requests run with. */
export const carriedOf = (services: Context.Context<never>): Map<string, unknown> => {
  const result = new Map<string, unknown>(Context.get(services, Decisions).unsafeMap)
  for (const { key } of carried) if (services.unsafeMap.has(key)) result.set(key, services.unsafeMap.get(key))
  return result
}
