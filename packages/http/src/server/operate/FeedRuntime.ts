import { service } from "@atelier/core/platform"
import { Context, Effect, Runtime } from "effect"
import { RequestReferences } from "./RequestReferences.js"

/** The runtime by which open feeds read. One for each feed would keep what else its request had: its services, its client's headers, and its response. */
export class FeedRuntime extends Context.Tag("@atelier/http/FeedRuntime")<FeedRuntime, Runtime.Runtime<never>>() {
  static readonly layer = service(
    FeedRuntime,
    Effect.zipWith(Effect.runtime<never>(), RequestReferences, ({ fiberRefs, runtimeFlags }, context) =>
      Runtime.make({ context, fiberRefs, runtimeFlags })
    )
  )
}
