/**
 * Layers that are built one after the other, in one fiber, over one growing context. A layer of Effect's own takes a hundred steps of the
 * runtime and copies the whole context several times, which made the layers of all services a third of a start.
 *
 * They are layers like any other outside of this module: built once for each memo map, and released when the last scope that uses them closes.
 * Services of one build that have the same tag must be the same service: a later one replaces the earlier for those that are built afterwards.
 */
import { Context, Deferred, Effect, Exit, FiberId, Layer, Scope } from "effect"
import type { YieldWrap } from "effect/Utils"

type AnyLayer = Layer.Layer<never, unknown, unknown>

type ErrorOf<Layers extends ReadonlyArray<AnyLayer>> = { [K in keyof Layers]: Layer.Layer.Error<Layers[K]> }[number]
type ContextOf<Layers extends ReadonlyArray<AnyLayer>> = { [K in keyof Layers]: Layer.Layer.Context<Layers[K]> }[number]
type SuccessOf<Layers extends ReadonlyArray<AnyLayer>> = { [K in keyof Layers]: Layer.Layer.Success<Layers[K]> }[number]

type Steps<A> = Generator<YieldWrap<Effect.Effect<unknown, unknown, unknown>>, A>

/** Services by the keys of their tags. */
type Provided = ReadonlyMap<string, unknown>

/** How a layer of this module is made. */
type Plan =
  | { readonly key: string; readonly make: Effect.Effect<unknown, unknown, unknown> }
  | { readonly before: ReadonlyArray<AnyLayer>; readonly provides: ReadonlyArray<AnyLayer> }

const plans = new WeakMap<AnyLayer, Plan>()

/** What one build has made. It lasts until no build uses it, and so does what it stands on. */
interface Batch {
  readonly scope: Scope.CloseableScope
  /** All services that its services were made with. */
  readonly context: Context.Context<unknown>
  readonly layers: Set<AnyLayer>
  readonly uses: Set<Batch>
  users: number
}

interface Part {
  readonly batch: Batch
  readonly provided: Deferred.Deferred<Provided, unknown>
}

/** What was built for a memo map. */
class Parts extends Context.Tag("@atelier/core/Parts")<Parts, Map<AnyLayer, Part>>() {
  static readonly layer = Layer.sync(Parts, () => new Map<AnyLayer, Part>())
}

/** Ends one use of a batch. */
const release = (parts: Map<AnyLayer, Part>, batch: Batch, exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> =>
  Effect.suspend(() => {
    batch.users -= 1
    if (batch.users > 0) return Effect.void
    for (const layer of batch.layers) parts.delete(layer)
    const others = Effect.forEach(batch.uses, (used) => release(parts, used, exit), { discard: true })
    // Finalizers compare the context that they were added with to the one that they run with: the same one takes no time
    const closed = Effect.mapInputContext<void, never, never, never>(Scope.close(batch.scope, exit), () => batch.context)
    return Effect.zipRight(closed, others)
  })

const build = (root: AnyLayer) =>
  Effect.gen(function* () {
    const memoMap = yield* Layer.CurrentMemoMap
    const outside = yield* Effect.scope
    const parts = Context.get(yield* Layer.buildWithMemoMap(Parts.layer, memoMap, outside), Parts)
    const scope = yield* Scope.make()
    const services = new Map<string, unknown>((yield* Effect.context<never>()).unsafeMap).set(Scope.Scope.key, scope)
    const context = Context.unsafeMake<unknown>(services)
    const own: Batch = { scope, context, layers: new Set(), uses: new Set(), users: 1 }
    yield* Scope.addFinalizerExit(outside, (exit) => release(parts, own, exit))

    function* make(layer: AnyLayer): Steps<Provided> {
      const plan = plans.get(layer)
      if (plan === undefined) return (yield* Layer.buildWithMemoMap(layer, memoMap, scope)).unsafeMap
      if ("make" in plan) return new Map([[plan.key, yield* plan.make]])
      for (const each of plan.before) yield* provide(each)
      const provided = new Map<string, unknown>()
      for (const each of plan.provides) for (const [key, service] of yield* provide(each)) provided.set(key, service)
      return provided
    }

    /** Adds what a layer provides to the services. */
    function* provide(layer: AnyLayer): Steps<Provided> {
      const known = parts.get(layer)
      if (known !== undefined) {
        if (known.batch !== own && !own.uses.has(known.batch)) {
          own.uses.add(known.batch)
          known.batch.users += 1
        }
        const provided: Provided = yield* Deferred.await(known.provided) as Effect.Effect<Provided, unknown>
        for (const [key, service] of provided) services.set(key, service)
        return provided
      }
      const part: Part = { batch: own, provided: Deferred.unsafeMake(FiberId.none) }
      parts.set(layer, part)
      own.layers.add(layer)
      const provided = yield* make(layer)
      for (const [key, service] of provided) services.set(key, service)
      Deferred.unsafeDone(part.provided, Exit.succeed(provided))
      return provided
    }

    return yield* Effect.gen(function* () {
      return Context.unsafeMake<never>(new Map(yield* provide(root)))
    }).pipe(
      Effect.onError((cause) =>
        // Another build may wait for what this one has not made
        Effect.sync(() => {
          for (const layer of own.layers) {
            const part = parts.get(layer)
            if (part?.batch === own) Deferred.unsafeDone(part.provided, Exit.failCause(cause))
          }
        })
      ),
      Effect.mapInputContext(() => context)
    )
  })

/** The types of what a plan provides are lost while it is built. */
const planned = (plan: Plan): never => {
  const layer: AnyLayer = Layer.scopedContext(Effect.suspend(() => build(layer)))
  plans.set(layer, plan)
  return layer as never
}

/** Returns the layer of a service. What it acquires is released with its layer. */
export const service = <I, S, E, R>(
  tag: Context.Tag<I, S>,
  make: Effect.Effect<NoInfer<S>, E, R>
): Layer.Layer<I, E, Exclude<R, Scope.Scope>> => planned({ key: tag.key, make })

/** Returns a service's layer with the layers of the services that it stands on. */
export const standingOn = <A, E, R, const Layers extends ReadonlyArray<AnyLayer>>(
  self: Layer.Layer<A, E, R>,
  ...layers: Layers
): Layer.Layer<A, E | ErrorOf<Layers>, ContextOf<Layers> | Exclude<R, SuccessOf<Layers>>> => planned({ before: layers, provides: [self] })

/** What layers need from outside if each may use what those before it provide. */
type OpenOf<Layers extends ReadonlyArray<AnyLayer>, Known = never> = Layers extends readonly [
  infer First extends AnyLayer,
  ...infer Rest extends ReadonlyArray<AnyLayer>
]
  ? Exclude<Layer.Layer.Context<First>, Known> | OpenOf<Rest, Known | Layer.Layer.Success<First>>
  : never

/** Returns one layer of several, each of which may stand on those before it. */
export const stacked = <const Layers extends ReadonlyArray<AnyLayer>>(
  ...layers: Layers
): Layer.Layer<SuccessOf<Layers>, ErrorOf<Layers>, OpenOf<Layers>> => planned({ before: [], provides: layers })

/** Returns one layer of several, none of which stands on another. They are built in their order. */
export const together = <const Layers extends ReadonlyArray<AnyLayer>>(
  ...layers: Layers
): Layer.Layer<SuccessOf<Layers>, ErrorOf<Layers>, ContextOf<Layers>> => planned({ before: [], provides: layers })
