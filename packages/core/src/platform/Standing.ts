import { Context, Effect, Layer } from "effect"

type AnyLayer = Layer.Layer<never, unknown, unknown>

/**
 * Returns a service's layer with the layers of the services that it stands on. It does what `Layer.provide` does with fewer steps: with
 * that, building all services took 60 ms more of processor time at a start.
 */
export const standingOn = <A, E, R, const Layers extends ReadonlyArray<AnyLayer>>(
  self: Layer.Layer<A, E, R>,
  ...layers: Layers
): Layer.Layer<
  A,
  E | { [K in keyof Layers]: Layer.Layer.Error<Layers[K]> }[number],
  | { [K in keyof Layers]: Layer.Layer.Context<Layers[K]> }[number]
  | Exclude<R, { [K in keyof Layers]: Layer.Layer.Success<Layers[K]> }[number]>
> => {
  const built = Effect.gen(function* () {
    const memoMap = yield* Layer.CurrentMemoMap
    const scope = yield* Effect.scope
    let context: Context.Context<never> = Context.empty()
    for (const layer of layers) context = Context.merge(context, yield* Layer.buildWithMemoMap(layer, memoMap, scope))
    return yield* Effect.provide(Layer.buildWithMemoMap(self, memoMap, scope), context)
  })
  // The types of a loop's contexts are lost
  return Layer.scopedContext(built) as never
}
