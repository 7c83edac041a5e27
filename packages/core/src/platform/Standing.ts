/**
 * Layers that are built one after the other, in one fiber, over one growing context. A layer of Effect's own takes a hundred steps of the
 * runtime and copies the whole context several times, which made the layers of all services a third of a start.
 *
 * They are layers like any other outside of this module: built once for each memo map. All that were built for one memo map are released together,
 * when the last scope that uses any of them closes. Of two services of one build that have the same tag, a later one replaces the earlier for those
 * that are built afterwards.
 */
import { Context, Deferred, Effect, Exit, FiberId, Layer, Option, Scope } from "effect"
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

/** What the layers of one memo map have made. It lasts until the last of their builds is released. */
interface Batch {
  readonly scope: Scope.CloseableScope
  /** Of the first build. */
  readonly context: Context.Context<unknown>
  readonly parts: Map<AnyLayer, Deferred.Deferred<Provided, unknown>>
  builds: number
}

/** In which batch a service is being made. */
class Within extends Context.Tag("@atelier/core/Within")<Within, Batch>() {}

const batches = new WeakMap<Layer.MemoMap, Batch>()

/** Ends one build of a batch, and with the last one what the batch has made. */
const release = (memoMap: Layer.MemoMap, batch: Batch, exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> =>
  Effect.suspend(() => {
    batch.builds -= 1
    if (batch.builds > 0) return Effect.void
    batches.delete(memoMap)
    // Finalizers compare the context that they were added with to the one that they run with: the same one takes no time
    return Effect.mapInputContext<void, never, never, never>(Scope.close(batch.scope, exit), () => batch.context)
  })

/** Begins a build of a memo map's layers, which ends with the scope outside. One for a service of the same batch ends with that. */
const begin = (memoMap: Layer.MemoMap, outside: Context.Context<never>) =>
  Effect.flatMap(Scope.make(), (scope) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const known = batches.get(memoMap)
        const services = new Map<string, unknown>(outside.unsafeMap).set(Scope.Scope.key, known?.scope ?? scope)
        const context = Context.unsafeMake<unknown>(services)
        const batch = known ?? { scope, context, parts: new Map(), builds: 0 }
        services.set(Within.key, batch)
        batches.set(memoMap, batch)
        const isInside = Option.contains(Context.getOption(outside, Within), batch)
        if (!isInside) batch.builds += 1
        return { batch, context, isInside, services }
      }),
      ({ batch, isInside }, exit) => (isInside ? Effect.void : release(memoMap, batch, exit))
    )
  )

const build = (root: AnyLayer) =>
  Effect.gen(function* () {
    const memoMap = yield* Layer.CurrentMemoMap
    const { batch, context, services } = yield* begin(memoMap, yield* Effect.context<never>())
    /** What this build is making. */
    const open = new Map<AnyLayer, Deferred.Deferred<Provided, unknown>>()

    const add = (provided: Provided): Provided => {
      for (const [key, service] of provided) services.set(key, service)
      return provided
    }

    function* make(plan: Plan): Steps<Provided> {
      if ("make" in plan) return new Map([[plan.key, yield* plan.make]])
      for (const each of plan.before) yield* provide(each)
      const provided = new Map<string, unknown>()
      for (const each of plan.provides) for (const [key, service] of yield* provide(each)) provided.set(key, service)
      return provided
    }

    /** Adds what a layer provides to the services. */
    function* provide(layer: AnyLayer): Steps<Provided> {
      const plan = plans.get(layer)
      if (plan === undefined) return add((yield* Layer.buildWithMemoMap(layer, memoMap, batch.scope)).unsafeMap)
      const present = batch.parts.get(layer)
      if (present !== undefined) {
        const provided: Provided = yield* Deferred.await(present) as Effect.Effect<Provided, unknown>
        return add(provided)
      }
      const part = Deferred.unsafeMake<Provided, unknown>(FiberId.none)
      batch.parts.set(layer, part)
      open.set(layer, part)
      const provided = add(yield* make(plan))
      open.delete(layer)
      Deferred.unsafeDone(part, Exit.succeed(provided))
      return provided
    }

    return yield* Effect.gen(function* () {
      return Context.unsafeMake<never>(new Map(yield* provide(root)))
    }).pipe(
      Effect.onError((cause) =>
        // Another build may wait for what this one has not made; a later one makes it again
        Effect.sync(() => {
          for (const [layer, part] of open) {
            batch.parts.delete(layer)
            Deferred.unsafeDone(part, Exit.failCause(cause))
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
