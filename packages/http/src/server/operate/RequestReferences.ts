import { joining } from "@atelier/core/platform"
import { Context, type Layer } from "effect"

/** Values of the deployment's references (`Context.Reference`), which every request may read. */
export class RequestReferences extends Context.Reference<RequestReferences>()("@atelier/http/RequestReferences", {
  defaultValue: (): Context.Context<never> => Context.empty()
}) {
  /** Keeps what a layer provides for requests too. */
  static readonly keep = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A | RequestReferences, E, R> =>
    joining([layer], ([references = Context.empty() as Context.Context<A>]) =>
      Context.add(references, RequestReferences, references as Context.Context<never>)
    )
}
