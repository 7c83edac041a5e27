import { existing, joining, later, running, service, services, stacked, standingOn, startedWith, together } from "@atelier/core/platform"
import { Context, Deferred, Effect, Exit, FiberId, FiberRef, Layer, Scope } from "effect"
import { describe, expect, it } from "vitest"

class Base extends Context.Tag("test/Base")<Base, { readonly number: number }>() {}
class Left extends Context.Tag("test/Left")<Left, { readonly base: number }>() {}
class Right extends Context.Tag("test/Right")<Right, { readonly base: number }>() {}

/** Layers of a service that two others stand on, and what happened to them. */
const example = (before: Effect.Effect<unknown, Error> = Effect.void) => {
  const events: Array<string> = []
  let number = 0
  const base = service(
    Base,
    Effect.acquireRelease(
      Effect.map(before, () => {
        events.push("base")
        return { number: ++number }
      }),
      () => Effect.sync(() => events.push("base released"))
    )
  )
  const on = <I>(tag: Context.Tag<I, { readonly base: number }>, name: string) =>
    standingOn(
      service(
        tag,
        Effect.acquireRelease(
          Effect.map(Base, (found) => {
            events.push(name)
            return { base: found.number }
          }),
          () => Effect.sync(() => events.push(`${name} released`))
        )
      ),
      base
    )
  return { base, events, left: on(Left, "left"), right: on(Right, "right") }
}

const both = Effect.all([Left, Right])

describe("layers of services", () => {
  it("builds a service once that two stand on, and releases it last", async () => {
    const { events, left, right } = example()
    const answer = await Effect.runPromise(Effect.provide(both, together(left, right)))
    expect(answer).toEqual([{ base: 1 }, { base: 1 }])
    expect(events).toEqual(["base", "left", "right", "right released", "left released", "base released"])
  })

  it("shares a service with layers that Effect merges and builds at once", async () => {
    const { base, events, left, right } = example()
    const answer = await Effect.runPromise(Effect.provide(both, Layer.mergeAll(left, Layer.provide(right, base), base)))
    expect(answer).toEqual([{ base: 1 }, { base: 1 }])
    expect(events.filter((event) => event === "base" || event === "base released")).toEqual(["base", "base released"])
  })

  it("releases each service with the last scope that uses it", async () => {
    const { events, left, right } = example()
    await Effect.runPromise(
      Effect.gen(function* () {
        const memoMap = yield* Layer.makeMemoMap
        const [first, second] = [yield* Scope.make(), yield* Scope.make()]
        yield* Layer.buildWithMemoMap(left, memoMap, first)
        yield* Layer.buildWithMemoMap(right, memoMap, second)
        yield* Scope.close(first, Exit.void)
        expect(events).toEqual(["base", "left", "right", "left released"])
        yield* Scope.close(second, Exit.void)
      })
    )
    expect(events).toEqual(["base", "left", "right", "left released", "right released", "base released"])
  })

  it("waits for a service that another build is making", async () => {
    const gate = Deferred.unsafeMake<void>(FiberId.none)
    const { events, left, right } = example(Deferred.await(gate))
    const built = Effect.runPromise(Effect.provide(both, Layer.merge(left, right)))
    expect(events).toEqual([])
    Deferred.unsafeDone(gate, Effect.void)
    expect(await built).toEqual([{ base: 1 }, { base: 1 }])
  })

  it("fails each build that waits for a service whose making fails", async () => {
    const gate = Deferred.unsafeMake<void, Error>(FiberId.none)
    const { events, left, right } = example(Deferred.await(gate))
    const built = Effect.runPromise(Effect.flip(Effect.provide(both, Layer.merge(left, right))))
    Deferred.unsafeDone(gate, Exit.fail(new Error("no luck")))
    expect(await built).toEqual(new Error("no luck"))
    expect(events).toEqual([])
  })

  it("prefers the services that a service stands on to those from outside", async () => {
    const { left } = example()
    const answer = await Effect.runPromise(Effect.provide(Left, Layer.provide(left, Layer.succeed(Base, { number: 9 }))))
    expect(answer).toEqual({ base: 1 })
  })

  it("takes what it does not stand on from outside", async () => {
    const alone = service(
      Right,
      Effect.map(Base, ({ number }) => ({ base: number }))
    )
    expect(await Effect.runPromise(Effect.provide(Right, Layer.provide(alone, Layer.succeed(Base, { number: 9 }))))).toEqual({ base: 9 })
  })

  it("releases what an inner build of Effect's own layers shares with the outer one", async () => {
    class Other extends Context.Tag("test/Other")<Other, number>() {}
    const { base, events, left } = example()
    const inner = Layer.provide(standingOn(left, base), Layer.succeed(Other, 1))
    await Effect.runPromise(Effect.provide(Effect.all([Base, Left]), together(base, inner)))
    expect(events).toEqual(["base", "left", "left released", "base released"])
  })

  it("releases what two builds at once share with each other", async () => {
    const { events, left, right } = example(Effect.yieldNow())
    await Effect.runPromise(Effect.provide(both, Layer.mergeAll(together(left, right), together(right, left))))
    expect(events.toSorted()).toEqual(["base", "base released", "left", "left released", "right", "right released"])
  })

  it("shares a service with a later build while any build uses it", async () => {
    await Effect.runPromise(
      Effect.gen(function* () {
        const { events, left, right } = example()
        const memoMap = yield* Layer.makeMemoMap
        const [first, second, third] = [yield* Scope.make(), yield* Scope.make(), yield* Scope.make()]
        yield* Layer.buildWithMemoMap(left, memoMap, first)
        yield* Layer.buildWithMemoMap(right, memoMap, second)
        yield* Scope.close(first, Exit.void)
        yield* Layer.buildWithMemoMap(right, memoMap, third)
        yield* Scope.close(second, Exit.void)
        expect(events).toEqual(["base", "left", "right", "left released"])
        yield* Scope.close(third, Exit.void)
        expect(events).toEqual(["base", "left", "right", "left released", "right released", "base released"])
      })
    )
  })

  it.each([
    ["in one build", (inner: Layer.Layer<Left>, base: Layer.Layer<Base, Error>) => together(inner, base)],
    ["in one build, behind another service", (inner: Layer.Layer<Left>, base: Layer.Layer<Base, Error>) => together(base, inner)],
    ["in builds at once", (inner: Layer.Layer<Left>, base: Layer.Layer<Base, Error>) => Layer.mergeAll(base, inner)],
    ["in builds one after the other", (inner: Layer.Layer<Left>, base: Layer.Layer<Base, Error>) => Layer.provideMerge(inner, base)]
  ])("releases a service before what Effect's own layer provides it with, %s", async (_, whole) => {
    class Store extends Context.Tag("test/Store")<Store, string>() {}
    const { base, events } = example()
    const store = Effect.acquireRelease(Effect.succeed("store"), () => Effect.sync(() => events.push("store released")))
    const stored = Effect.acquireRelease(Effect.as(Store, { base: 1 }), () => Effect.sync(() => events.push("left released")))
    const inner = Layer.provide(service(Left, stored), Layer.scoped(Store, store))
    await Effect.runPromise(Effect.provide(Effect.all([Base, Left]), whole(inner, base)))
    expect(events.indexOf("left released")).toBeLessThan(events.indexOf("store released"))
  })

  it("releases what a failed build has acquired while another build lasts", async () => {
    class Broken extends Context.Tag("test/Broken")<Broken, number>() {}
    const { base, events } = example()
    const acquired = Effect.acquireRelease(Effect.void, () => Effect.sync(() => events.push("broken released")))
    const broken = service(Broken, Effect.zipRight(acquired, Effect.fail(new Error("no luck"))))
    const answer = Layer.orElse(broken, () => Layer.succeed(Broken, 1))
    await Effect.runPromise(
      Effect.provide(
        Effect.sync(() => expect(events).toEqual(["base", "broken released"])),
        together(base, answer)
      )
    )
    expect(events).toEqual(["base", "broken released", "base released"])
  })

  it("releases the other services when the release of one dies", async () => {
    class Fragile extends Context.Tag("test/Fragile")<Fragile, number>() {}
    const { base, events } = example()
    const fragile = service(
      Fragile,
      Effect.acquireRelease(Effect.succeed(1), () => Effect.die(new Error("the store is away")))
    )
    await Effect.runPromiseExit(Effect.provide(Effect.all([Base, Fragile]), together(base, fragile)))
    expect(events).toEqual(["base", "base released"])
  })

  it("gives each fresh layer services of its own", async () => {
    const { left } = example()
    const number = Effect.map(Effect.provide(Left, Layer.fresh(left)), ({ base }) => base)
    expect(await Effect.runPromise(Effect.all([number, number]))).toEqual([1, 2])
  })

  it("makes a fresh layer again for each layer that stands on it", async () => {
    const { base, events } = example()
    const fresh = Layer.fresh(base)
    const ofItsOwn = <I>(tag: Context.Tag<I, number>) =>
      Layer.provide(
        service(
          tag,
          Effect.map(Base, ({ number }) => number)
        ),
        fresh
      )
    class First extends Context.Tag("test/First")<First, number>() {}
    class Second extends Context.Tag("test/Second")<Second, number>() {}
    const answer = await Effect.runPromise(Effect.provide(Effect.all([First, Second]), together(ofItsOwn(First), ofItsOwn(Second))))
    expect(answer).toEqual([1, 2])
    expect(events.toSorted()).toEqual(["base", "base", "base released", "base released"])
  })

  it("runs an effect between the services before and after it, until the layer is released", async () => {
    const { base, events, left } = example()
    const step = running(
      Effect.acquireRelease(
        Effect.map(Base, ({ number }) => events.push(`ran on ${number}`)),
        () => Effect.sync(() => events.push("run released"))
      )
    )
    await Effect.runPromise(Effect.provide(Left, stacked(base, step, left)))
    expect(events).toEqual(["base", "ran on 1", "left", "left released", "run released", "base released"])
  })

  it("keeps what a running effect sets until the layer is released", async () => {
    const setting = FiberRef.unsafeMake("unset")
    const layer = standingOn(service(Base, Effect.as(FiberRef.get(setting), { number: 1 })), running(Effect.locallyScoped(setting, "set")))
    const [inside, after] = await Effect.runPromise(
      Effect.all([Effect.provide(Effect.zipRight(Base, FiberRef.get(setting)), layer), FiberRef.get(setting)])
    )
    expect([inside, after]).toEqual(["set", "unset"])
  })

  it("provides the services of a context, and those that several layers join", async () => {
    const number = (value: number) => services(Effect.succeed(Context.make(Base, { number: value })))
    const sum = joining([number(1), number(2), existing(Base, { number: 3 })], (contexts) =>
      Context.make(Base, { number: contexts.reduce((total, context) => total + Context.get(context, Base).number, 0) })
    )
    expect(await Effect.runPromise(Effect.provide(Base, sum))).toEqual({ number: 6 })
  })

  it("makes a later layer once, when it is first built", async () => {
    let made = 0
    const { left } = example()
    const layer = later(() => {
      made += 1
      return left
    })
    expect(made).toBe(0)
    const answer = Effect.provide(Left, layer)
    expect(await Effect.runPromise(Effect.all([answer, answer]))).toEqual([{ base: 1 }, { base: 2 }])
    expect(made).toBe(1)
  })

  it("tells every build that waits which option has failed", async () => {
    const failing = await Effect.runPromise(Deferred.make<never, Error>())
    const { base, events, left } = example()
    const broken = service(Right, Effect.zipRight(Base, Deferred.await(failing)))
    const layer = startedWith({ option: "storage.url" })(stacked(base, left, broken))
    const build = Effect.either(Effect.scoped(Layer.build(layer)))
    const outcomes = await Effect.runPromise(
      Effect.all([build, build, Deferred.fail(failing, new Error("no answer"))], { concurrency: "unbounded" })
    )
    expect(
      outcomes.slice(0, 2).map((outcome) => (typeof outcome === "object" && outcome._tag === "Left" ? outcome.left.message : ""))
    ).toEqual(["storage.url: no answer", "storage.url: no answer"])
    expect(events.filter((event) => event === "base").length).toBe(events.filter((event) => event === "base released").length)
  })
})
