import { service } from "@atelier/core/platform"
import { Context, Effect, Runtime } from "effect"

/** The runtime by which open feeds read. One for each feed would keep what else its request had. */
export class FeedRuntime extends Context.Tag("@atelier/http/FeedRuntime")<FeedRuntime, Runtime.Runtime<never>>() {
  static readonly layer = service(FeedRuntime, Effect.runtime<never>())

  /** That runtime, with the services of the present request. */
  static readonly here = <R>(): Effect.Effect<Runtime.Runtime<R>, never, FeedRuntime | R> =>
    Effect.map(Effect.context<FeedRuntime | R>(), (context) => {
      const { fiberRefs, runtimeFlags } = Context.get(context, FeedRuntime)
      return Runtime.make<R>({ context, fiberRefs, runtimeFlags })
    })
}
