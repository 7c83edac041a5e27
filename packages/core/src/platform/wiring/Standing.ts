/**
 * Layers that are built one after the other, in one fiber, over one growing context. A layer of Effect's own takes a hundred steps of the
 * runtime and copies the whole context several times, which made the layers of all services a third of a start.
 *
 * They are layers like any other outside of this module: built once for each memo map, and each service is released when the last scope that uses
 * it closes, before what it stands on. Of two services of one build that have the same tag, a later one replaces the earlier for those that are
 * built afterwards.
 */
import { type Cause, Context, Deferred, Effect, ExecutionStrategy, Exit, FiberId, identity, Layer, Scope } from "effect"
import type { YieldWrap } from "effect/Utils"

type AnyLayer = Layer.Layer<never, unknown, unknown>

type ErrorOf<Layers extends ReadonlyArray<AnyLayer>> = { [K in keyof Layers]: Layer.Layer.Error<Layers[K]> }[number]
type ContextOf<Layers extends ReadonlyArray<AnyLayer>> = { [K in keyof Layers]: Layer.Layer.Context<Layers[K]> }[number]
type SuccessOf<Layers extends ReadonlyArray<AnyLayer>> = { [K in keyof Layers]: Layer.Layer.Success<Layers[K]> }[number]

type Steps<A> = Generator<YieldWrap<Effect.Effect<unknown, unknown, unknown>>, A>

/** Services by the keys of their tags. */
type Provided = ReadonlyMap<string, unknown>

interface ServicePlan {
  readonly make: Effect.Effect<unknown, unknown, unknown>
  readonly provided: (made: unknown) => Provided
}

interface LayersPlan {
  readonly before: ReadonlyArray<AnyLayer>
  readonly provides: ReadonlyArray<AnyLayer>
  readonly joined?: undefined | ((contexts: ReadonlyArray<Context.Context<never>>) => Context.Context<never>)
}

interface LaterPlan {
  readonly layer: () => AnyLayer
  readonly failure: (cause: Cause.Cause<unknown>) => Cause.Cause<unknown>
}

/** How a layer of this module is made. */
type Plan = ServicePlan | LayersPlan | LaterPlan

const plans = new WeakMap<AnyLayer, Plan>()

/** A service that was made for a memo map. It lasts until the last build that uses it is released. */
interface Part {
  readonly scope: Scope.CloseableScope
  /** Of the build that made it. */
  readonly context: Context.Context<unknown>
  readonly provided: Deferred.Deferred<Provided, unknown>
  builds: number
}

type Parts = Map<AnyLayer, Part>

const partsOfMaps = new WeakMap<Layer.MemoMap, Parts>()

const partsOf = (memoMap: Layer.MemoMap): Parts => {
  const parts = partsOfMaps.get(memoMap) ?? new Map<AnyLayer, Part>()
  partsOfMaps.set(memoMap, parts)
  return parts
}

/** Ends one build's use of a service, and with the last one the service. */
const release = (parts: Parts, layer: AnyLayer, part: Part, exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> =>
  Effect.suspend(() => {
    part.builds -= 1
    if (part.builds > 0) return Effect.void
    if (parts.get(layer) === part) parts.delete(layer)
    // Finalizers compare the context that they were added with to the one that they run with: the same one takes no time
    return Effect.mapInputContext<void, never, never, never>(Scope.close(part.scope, exit), () => part.context)
  })

const build = (root: AnyLayer) =>
  Effect.gen(function* () {
    const memoMap = yield* Layer.CurrentMemoMap
    const parts = partsOf(memoMap)
    // Also tells the services from those outside, which a fiber keeps if both are equal
    const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
    const services = new Map<string, unknown>((yield* Effect.context<never>()).unsafeMap).set(Scope.Scope.key, scope)
    const context = Context.unsafeMake<unknown>(services)
    /** What this build has made or found. */
    const known = new Map<AnyLayer, Provided>()
    /** The service that this build is making. */
    let open: readonly [AnyLayer, Part] | undefined

    const add = (provided: Provided): Provided => {
      for (const [key, service] of provided) services.set(key, service)
      return provided
    }

    const releaseLater = (layer: AnyLayer, part: Part) => Scope.addFinalizerExit(scope, (exit) => release(parts, layer, part, exit))

    /** Waits where another build is making it. */
    function* use(layer: AnyLayer, part: Part): Steps<Provided> {
      const begin = Effect.suspend(() => {
        part.builds += 1
        return releaseLater(layer, part)
      })
      yield* Effect.uninterruptible(begin)
      const provided: Provided = yield* Deferred.await(part.provided) as Effect.Effect<Provided, unknown>
      return provided
    }

    function* one(layer: AnyLayer, plan: ServicePlan): Steps<Provided> {
      // Made before the look: another fiber may run at each step, so none may come between the look and the entry
      const own = yield* Scope.make()
      const present = parts.get(layer)
      if (present !== undefined) return yield* use(layer, present)
      const part: Part = { scope: own, context, provided: Deferred.unsafeMake(FiberId.none), builds: 1 }
      parts.set(layer, part)
      open = [layer, part]
      yield* releaseLater(layer, part)
      services.set(Scope.Scope.key, own)
      const provided = plan.provided(yield* plan.make)
      services.set(Scope.Scope.key, scope)
      open = undefined
      Deferred.unsafeDone(part.provided, Exit.succeed(provided))
      return provided
    }

    function* several({ before, joined, provides }: LayersPlan): Steps<Provided> {
      for (const each of before) yield* provide(each)
      if (joined !== undefined) {
        const contexts: Array<Context.Context<never>> = []
        for (const each of provides) contexts.push(Context.unsafeMake(new Map(yield* provide(each))))
        return joined(contexts).unsafeMap
      }
      const provided = new Map<string, unknown>()
      for (const each of provides) for (const [key, service] of yield* provide(each)) provided.set(key, service)
      return provided
    }

    const later = ({ failure, layer }: LaterPlan) =>
      Effect.mapErrorCause(
        Effect.gen(() => provide(layer())),
        failure
      )

    function* planned(layer: AnyLayer, plan: Plan): Steps<Provided> {
      if ("make" in plan) return yield* one(layer, plan)
      if ("provides" in plan) return yield* several(plan)
      const provided: Provided = yield* later(plan) as Effect.Effect<Provided, unknown>
      return provided
    }

    /** Adds what a layer provides to the services. */
    function* provide(layer: AnyLayer): Steps<Provided> {
      const plan = plans.get(layer)
      if (plan === undefined) return add((yield* Layer.buildWithMemoMap(layer, memoMap, scope)).unsafeMap)
      const provided = known.get(layer) ?? (yield* planned(layer, plan))
      known.set(layer, provided)
      return add(provided)
    }

    return yield* Effect.gen(function* () {
      return Context.unsafeMake<never>(new Map(yield* provide(root)))
    }).pipe(
      Effect.onError((cause) =>
        // Another build may wait for what this one has not made; a later one makes it again
        Effect.sync(() => {
          if (open === undefined) return
          const [layer, part] = open
          parts.delete(layer)
          Deferred.unsafeDone(part.provided, Exit.failCause(cause))
        })
      ),
      Effect.mapInputContext(() => context)
    )
  })

/** The types of what a plan provides are lost while it is built. */
const layerOf = (plan: Plan): never => {
  const layer: AnyLayer = Layer.scopedContext(Effect.suspend(() => build(layer)))
  plans.set(layer, plan)
  return layer as never
}

/** Returns the layer of a service. What it acquires is released with its layer. */
export const service = <I, S, E, R>(
  tag: Context.Tag<I, S>,
  make: Effect.Effect<NoInfer<S>, E, R>
): Layer.Layer<I, E, Exclude<R, Scope.Scope>> => layerOf({ make, provided: (made) => new Map([[tag.key, made]]) })

/** Returns the layer of a service that is already made. */
export const existing = <I, S>(tag: Context.Tag<I, S>, made: NoInfer<S>): Layer.Layer<I> => service(tag, Effect.succeed(made))

/** Returns the layer of the services of a context. What it acquires is released with its layer. */
export const services = <A, E, R>(make: Effect.Effect<Context.Context<A>, E, R>): Layer.Layer<A, E, Exclude<R, Scope.Scope>> =>
  layerOf({ make, provided: (made) => (made as Context.Context<A>).unsafeMap })

/** Returns a layer that runs an effect and provides nothing. What it acquires is released with its layer. */
export const running = <A, E, R>(effect: Effect.Effect<A, E, R>): Layer.Layer<never, E, Exclude<R, Scope.Scope>> =>
  layerOf({ make: effect, provided: () => new Map() })

/** Returns a layer that is made when it is first built. */
export const later = <A, E, R>(make: () => Layer.Layer<A, E, R>): Layer.Layer<A, E, R> => {
  let made: Layer.Layer<A, E, R> | undefined
  return layerOf({ layer: () => (made ??= make()), failure: identity })
}

/** Returns a layer that fails for another cause than the given one. */
export const failingWith = <A, E, R, E2>(
  layer: Layer.Layer<A, E, R>,
  failure: (cause: Cause.Cause<E>) => Cause.Cause<E2>
): Layer.Layer<A, E2, R> => layerOf({ layer: () => layer, failure: failure as LaterPlan["failure"] })

/** Returns one layer of several of the same kind, which are built in their order. `joined` decides what they provide together. */
export const joining = <A, B, E, R>(
  layers: ReadonlyArray<Layer.Layer<A, E, R>>,
  joined: (contexts: ReadonlyArray<Context.Context<A>>) => Context.Context<B>
): Layer.Layer<B, E, R> => layerOf({ before: [], provides: layers, joined: joined as unknown as LayersPlan["joined"] })

/** Returns a service's layer with the layers of the services that it stands on. */
export const standingOn = <A, E, R, const Layers extends ReadonlyArray<AnyLayer>>(
  self: Layer.Layer<A, E, R>,
  ...layers: Layers
): Layer.Layer<A, E | ErrorOf<Layers>, ContextOf<Layers> | Exclude<R, SuccessOf<Layers>>> => layerOf({ before: layers, provides: [self] })

/** What layers need from outside if each may use what those before it provide. */
type OpenOf<Layers extends ReadonlyArray<AnyLayer>, Known = never> = Layers extends readonly [
  infer First extends AnyLayer,
  ...infer Rest extends ReadonlyArray<AnyLayer>
]
  ? Exclude<Layer.Layer.Context<First>, Known> | OpenOf<Rest, Known | Layer.Layer.Success<First>>
  : never

/** Returns one layer of several. Each may stand on those before it. */
export const stacked = <const Layers extends ReadonlyArray<AnyLayer>>(
  ...layers: Layers
): Layer.Layer<SuccessOf<Layers>, ErrorOf<Layers>, OpenOf<Layers>> => layerOf({ before: [], provides: layers })

/** Returns one layer of several that do not stand on each other. They are built in their order. */
export const together = <const Layers extends ReadonlyArray<AnyLayer>>(
  ...layers: Layers
): Layer.Layer<SuccessOf<Layers>, ErrorOf<Layers>, ContextOf<Layers>> => layerOf({ before: [], provides: layers })
