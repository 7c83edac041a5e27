/**
 * The services that requests run with. Everything else that handlers and services need they take when they are built: Effect copies a
 * fiber's services whenever one is added, which with those of the whole application would cost more than what requests do.
 */
import { StreamRights } from "@atelier/core/access"
import { AuditRepository } from "@atelier/core/audit"
import { Cryptography, EventBus, Ids, Locks, Transactor } from "@atelier/core/platform"
import { Context } from "effect"
import { Draining } from "../server/operate/Draining.js"
import { FeedRuntime } from "../server/operate/FeedRuntime.js"
import { Heartbeat } from "../server/operate/Heartbeat.js"
import { RequestReferences } from "../server/operate/RequestReferences.js"
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

/** Those of the given services that requests run with. */
export const carriedOf = (services: Context.Context<never>): Map<string, unknown> => {
  const result = new Map<string, unknown>(Context.get(services, RequestReferences).unsafeMap)
  for (const { key } of carried) if (services.unsafeMap.has(key)) result.set(key, services.unsafeMap.get(key))
  return result
}
