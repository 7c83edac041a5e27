import { service } from "@atelier/core/platform"
import { Context, Effect, Runtime } from "effect"
import { RequestReferences } from "./RequestReferences.js"

/**
 * The runtime by which open feeds read, and what WebSockets carry runs. One for each would keep what else its request had: its services, its client's headers, and its
 * response.
 */
export class FeedRuntime extends Context.Tag("@atelier/http/FeedRuntime")<FeedRuntime, Runtime.Runtime<never>>() {
  /** `tracing`: whether what runs becomes spans of the tracer in force, as requests do. */
  static readonly layer = ({ tracing }: { readonly tracing: boolean }) =>
    service(
      FeedRuntime,
      Effect.zipWith(
        Effect.withTracerEnabled(Effect.runtime<never>(), tracing),
        RequestReferences,
        ({ fiberRefs, runtimeFlags }, context) => Runtime.make({ context, fiberRefs, runtimeFlags })
      )
    )
}
