import { describe, it } from "@effect/vitest"
import { EventBus, Events, Feed, SharedReads } from "@atelier/core/platform"
import { Context, Deferred, Effect, Exit, Fiber, Option, Queue, Scheduler, Schema, Scope, TestClock } from "effect"
import { expect } from "vitest"

const news = Events.channelsOf("news", Schema.Struct({ of: Schema.String }))

/** A bus, and what is listened to on it. `begin` is a part of each listening. */
const aBus = (begin: Effect.Effect<unknown, never, Scope.Scope> = Effect.void) =>
  Effect.map(Events.makeRouter, (router) => {
    const state = { listeners: 0, hasListened: 0 }
    const listen: EventBus["Type"]["listen"] = (channel, listener) =>
      Effect.zipRight(
        Effect.zipRight(begin, router.listen(channel, listener)),
        Effect.acquireRelease(
          Effect.sync(() => {
            state.listeners++
            state.hasListened++
          }),
          () => Effect.sync(() => void state.listeners--)
        )
      )
    const bus = EventBus.of({ isShared: false, publish: () => Effect.void, listen })
    const change = (key: string, about = "all"): void => router.deliver(news(about).name, JSON.stringify({ of: key }))
    return { bus, change, state, lost: router.lost }
  })

/** Things by their names, each with a follower's reads of it. */
const things = <N = never>(bus: EventBus["Type"], changes: Partial<SharedReads.Changes<string, N>> = {}) =>
  Effect.provideService(
    SharedReads.makeSharedReads<string, N>({
      nameOf: (key) => key,
      sourcesOf: () => [SharedReads.source(news("all"), (event, key) => event.of === key)],
      every: "1 hours",
      ...changes
    }),
    EventBus,
    bus
  )

/** Follows a thing until the scope closes. Returns its reads, and how often it was pulled. */
const followed = <N>(of: SharedReads.Things<string, N>, key: string) =>
  Effect.gen(function* () {
    const pulls = { count: 0 }
    const first = yield* Deferred.make<SharedReads.SharedReads>()
    const feed = of(key, (shared) => ({ pull: () => Effect.sync(() => (pulls.count++, Option.some([shared]))) }))
    yield* Effect.forkScoped(Feed.runForEach(feed, (shared) => Deferred.succeed(first, shared)))
    return { pulls, shared: yield* Deferred.await(first) }
  })

/** A thing that changes when the test says so, and what is known of its followers. */
const aThing = Effect.gen(function* () {
  const { bus, change, state } = yield* aBus()
  const of = yield* things(bus)
  let reads = 0
  return { of, state, changed: () => change("a"), read: Effect.sync(() => ++reads) }
})

/** A thing with a value that changes without an event, what a follower of it was told, and how it was rechecked. */
const aRecheckedThing = Effect.gen(function* () {
  const { bus, change } = yield* aBus()
  const state = { value: 1, groups: 0, failure: undefined as string | undefined }
  const of = yield* things<number>(bus, {
    every: "10 seconds",
    recheck: () =>
      Effect.suspend(() => {
        state.groups++
        const { failure, value } = state
        return failure === undefined ? Effect.succeed(() => value) : Effect.die(failure)
      })
  })
  const follow = (told: Array<number>, take: Effect.Effect<void> = Effect.void) => {
    const feed = of("a", () => ({
      pull: () => Effect.sync(() => Option.some([state.value])),
      isCurrent: (now) => told.at(-1) === now
    }))
    return Effect.forkScoped(
      Feed.runForEach(feed, (value) => {
        told.push(value)
        return take
      })
    )
  }
  return { change, follow, state }
})

const turns = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow(), { discard: true })

/** Interrupts the first fiber that it runs, at the given step of it. */
const interruptingAt = (step: number): Scheduler.Scheduler => {
  let steps = 0
  return {
    scheduleTask: (task, priority) => Scheduler.defaultScheduler.scheduleTask(task, priority),
    shouldYield: (fiber) => {
      if (++steps !== step) return false
      fiber.unsafeInterruptAsFork(fiber.id())
      return 1
    }
  }
}

describe("shared reads", () => {
  it.scoped("are made once for all followers after each change", () =>
    Effect.gen(function* () {
      const { changed, of, read, state } = yield* aThing
      const received = yield* Queue.unbounded<number>()
      const follower = of("a", (shared) => ({ pull: () => Effect.map(shared.once("value", read), (value) => Option.some([value])) }))
      const followers = 1000
      yield* Effect.replicateEffect(Effect.forkScoped(Feed.runForEach(follower, (value) => Queue.offer(received, value))), followers)
      expect(new Set(yield* Queue.takeN(received, followers))).toStrictEqual(new Set([1]))
      changed()
      expect(new Set(yield* Queue.takeN(received, followers))).toStrictEqual(new Set([2]))
      expect([state.listeners, yield* read]).toStrictEqual([1, 3])
    })
  )

  it.scoped("keep no services of the application or of a follower", () =>
    Effect.gen(function* () {
      class Large extends Context.Tag("Large")<Large, string>() {}
      const kept: Array<ReadonlyArray<string>> = []
      const { bus } = yield* aBus(Effect.map(Effect.context<Scope.Scope>(), ({ unsafeMap }) => void kept.push([...unsafeMap.keys()])))
      const of = yield* Effect.provideService(things(bus), Large, "application")
      yield* Effect.provideService(followed(of, "a"), Large, "follower")
      expect(kept).toStrictEqual([[Scope.Scope.key]])
    })
  )

  it.scoped("end with the last follower", () =>
    Effect.gen(function* () {
      const { of, state } = yield* aThing
      const [first, second] = [yield* Scope.make(), yield* Scope.make()]
      const one = yield* Scope.extend(followed(of, "a"), first)
      const other = yield* Scope.extend(followed(of, "a"), second)
      expect(one.shared).toBe(other.shared)
      yield* Scope.close(first, Exit.void)
      expect(state.listeners).toBe(1)
      yield* Scope.close(second, Exit.void)
      yield* turns
      expect(state.listeners).toBe(0)
      const { shared } = yield* followed(of, "a")
      expect([state.listeners, shared === one.shared]).toStrictEqual([1, false])
    })
  )

  it.scoped("listen to a channel once for all things, and tell those that an event concerns", () =>
    Effect.gen(function* () {
      const { bus, change, lost, state } = yield* aBus()
      const of = yield* things(bus)
      const scope = yield* Scope.make()
      const { pulls: ofA } = yield* Scope.extend(followed(of, "a"), scope)
      const { pulls: ofB } = yield* followed(of, "b")
      expect([state.listeners, ofA.count, ofB.count]).toStrictEqual([1, 1, 1])
      change("b")
      yield* turns
      expect([ofA.count, ofB.count]).toStrictEqual([1, 2])
      lost()
      yield* turns
      expect([ofA.count, ofB.count]).toStrictEqual([2, 3])
      yield* Scope.close(scope, Exit.void)
      change("b")
      yield* turns
      expect([state.hasListened, state.listeners, ofB.count]).toStrictEqual([1, 1, 4])
    })
  )

  it.scoped("listen to each channel of a thing", () =>
    Effect.gen(function* () {
      const { bus, change, state } = yield* aBus()
      const of = yield* things(bus, { sourcesOf: (key) => ["one", key].map((about) => SharedReads.source(news(about))) })
      const scope = yield* Scope.make()
      const { pulls } = yield* Scope.extend(followed(of, "a"), scope)
      for (const about of ["one", "a", "b"]) {
        change("", about)
        yield* turns
      }
      expect([state.listeners, pulls.count]).toStrictEqual([2, 3])
      yield* Scope.close(scope, Exit.void)
      yield* turns
      expect(state.listeners).toBe(0)
    })
  )

  it.scoped("begin for no follower that has left before", () =>
    Effect.gen(function* () {
      const gate = yield* Effect.makeLatch(false)
      const { bus, state } = yield* aBus(gate.await)
      const of = yield* things(bus)
      const first = yield* Effect.fork(Effect.scoped(followed(of, "a")))
      yield* turns
      yield* Fiber.interrupt(first)
      const second = yield* Effect.fork(followed(of, "a"))
      yield* turns
      yield* gate.open
      const { shared } = yield* second
      expect(yield* shared.once("value", Effect.succeed(1))).toBe(1)
      yield* turns
      expect(state.listeners).toBe(1)
    })
  )

  it.scoped("are tried again by a follower that comes after a failure to listen", () =>
    Effect.gen(function* () {
      let isAway = true
      const { bus, state } = yield* aBus(Effect.suspend(() => (isAway ? Effect.die("away") : Effect.void)))
      const of = yield* things(bus)
      const feed = of("a", () => ({ pull: () => Effect.succeedNone }))
      const failed = [
        yield* Effect.fork(Feed.runForEach(feed, () => Effect.void)),
        yield* Effect.fork(Feed.runForEach(feed, () => Effect.void))
      ]
      for (const fiber of failed) expect(Exit.isFailure(yield* Fiber.await(fiber))).toBe(true)
      isAway = false
      yield* followed(of, "a")
      expect(state.listeners).toBe(1)
    })
  )

  it.scoped("are made again when one has failed", () =>
    Effect.gen(function* () {
      const { of, read } = yield* aThing
      const { shared } = yield* followed(of, "a")
      expect(yield* Effect.flip(shared.once("value", Effect.fail("away")))).toBe("away")
      expect(yield* shared.once("value", read)).toBe(1)
    })
  )

  it.scoped("continue for others when their first reader leaves", () =>
    Effect.gen(function* () {
      const { of } = yield* aThing
      const { shared } = yield* followed(of, "a")
      const gate = yield* Effect.makeLatch(false)
      const first = yield* Effect.fork(shared.once("value", Effect.as(gate.await, "read")))
      yield* Effect.yieldNow()
      const second = yield* Effect.fork(shared.once("value", Effect.succeed("another")))
      yield* Fiber.interrupt(first)
      yield* gate.open
      expect(yield* second).toBe("read")
    })
  )

  it.scoped("are made again for a follower that comes a second later", () =>
    Effect.gen(function* () {
      const { of, read } = yield* aThing
      const { shared } = yield* followed(of, "a")
      expect(yield* shared.once("value", read)).toBe(1)
      yield* TestClock.adjust("999 millis")
      expect(yield* shared.once("value", read)).toBe(1)
      yield* TestClock.adjust("1 millis")
      expect(yield* shared.once("value", read)).toBe(2)
    })
  )

  it.scoped("are made again after each period without a change, until the last follower leaves", () =>
    Effect.gen(function* () {
      const { bus } = yield* aBus()
      const of = yield* things(bus, { every: "10 seconds" })
      const scope = yield* Scope.make()
      const { pulls } = yield* Scope.extend(followed(of, "a"), scope)
      yield* TestClock.adjust("9 seconds")
      expect(pulls.count).toBe(1)
      yield* TestClock.adjust("1 seconds")
      yield* TestClock.adjust("10 seconds")
      yield* turns
      expect(pulls.count).toBe(3)
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("1 minutes")
      expect(pulls.count).toBe(3)
    })
  )

  it.scoped("tell nothing after a period in which nothing has changed, where things are rechecked", () =>
    Effect.gen(function* () {
      const { follow, state } = yield* aRecheckedThing
      const told: Array<number> = []
      yield* follow(told)
      yield* TestClock.adjust("20 seconds")
      yield* turns
      expect([told, state.groups]).toStrictEqual([[1], 2])
      state.value = 2
      yield* TestClock.adjust("10 seconds")
      yield* turns
      expect(told).toStrictEqual([1, 2])
    })
  )

  it.scoped("tell a follower that knows something else than what a recheck finds", () =>
    Effect.gen(function* () {
      const { change, follow, state } = yield* aRecheckedThing
      const told: Array<number> = []
      yield* follow(told)
      yield* turns
      state.value = 2
      change("a")
      yield* turns
      // Back to what the recheck before it found
      state.value = 1
      yield* TestClock.adjust("10 seconds")
      yield* turns
      expect(told).toStrictEqual([1, 2, 1])
    })
  )

  it.scoped("tell a follower that was reading while things were rechecked", () =>
    Effect.gen(function* () {
      const { follow, state } = yield* aRecheckedThing
      const taken = yield* Effect.makeLatch(false)
      const told: Array<number> = []
      yield* follow(told, taken.await)
      yield* turns
      state.value = 2
      yield* TestClock.adjust("10 seconds")
      yield* taken.open
      yield* turns
      expect(told).toStrictEqual([1, 2])
    })
  )

  it.scoped("tell all followers if things cannot be rechecked, and recheck again", () =>
    Effect.gen(function* () {
      const { follow, state } = yield* aRecheckedThing
      const told: Array<number> = []
      yield* follow(told)
      state.failure = "away"
      yield* TestClock.adjust("10 seconds")
      yield* turns
      expect(told).toStrictEqual([1, 1])
      state.failure = undefined
      yield* TestClock.adjust("10 seconds")
      yield* turns
      expect([told, state.groups]).toStrictEqual([[1, 1], 2])
    })
  )

  it.scoped("are rechecked together", () =>
    Effect.gen(function* () {
      const groups: Array<number> = []
      const { bus } = yield* aBus()
      const of = yield* things<number>(bus, {
        every: "10 seconds",
        recheck: (keys) => Effect.sync(() => (groups.push(keys.length), () => 0))
      })
      for (let key = 0; key < 40; key++) yield* followed(of, String(key))
      yield* TestClock.adjust("10 seconds")
      yield* turns
      expect(groups).toStrictEqual([32, 8])
    })
  )

  it.scoped("tell of changes at the end of a round, where there are several", () =>
    Effect.gen(function* () {
      const { bus, change } = yield* aBus()
      const of = yield* things(bus, { every: "5 seconds", rounds: 5 })
      const { pulls } = yield* followed(of, "a")
      const counts: Array<number> = []
      for (let second = 1; second <= 10; second++) {
        if (second === 2) change("a")
        yield* turns
        counts.push(pulls.count)
        yield* TestClock.adjust("1 seconds")
        yield* turns
      }
      expect([...counts, pulls.count]).toStrictEqual([1, 1, 2, 2, 2, 3, 3, 3, 3, 3, 4])
    })
  )

  it.scoped("answer others wherever their first reader is interrupted", () =>
    Effect.gen(function* () {
      const { of, read } = yield* aThing
      for (let step = 1; step <= 60; step++) {
        const answer = yield* Effect.scoped(
          Effect.gen(function* () {
            const { shared } = yield* followed(of, "a")
            const first = yield* Effect.fork(Effect.withScheduler(shared.once("value", read), interruptingAt(step)))
            yield* Fiber.await(first)
            const second = yield* Effect.fork(shared.once("value", read))
            yield* turns
            return yield* second.poll
          })
        )
        expect([step, answer._tag]).toStrictEqual([step, "Some"])
      }
    })
  )
})

it.scoped("a follower that comes while another one is interrupted at its beginning is told of changes", () =>
  Effect.gen(function* () {
    const { bus } = yield* aBus()
    const settled = Effect.repeatN(Effect.yieldNow(), 50)
    const stuck: Array<number> = []
    for (let step = 1; step <= 60; step++) {
      const of = yield* Effect.provideService(
        SharedReads.makeSharedReads<string>({ nameOf: (key) => key, sourcesOf: () => [SharedReads.source(news("all"))], every: "1 hour" }),
        EventBus,
        bus
      )
      const feed = of("a", () => ({ pull: () => Effect.succeedSome([1]) }))
      let told = 0
      let second: Fiber.RuntimeFiber<void> | undefined
      let steps = 0
      let own: unknown
      const scheduler: Scheduler.Scheduler = {
        scheduleTask: (task, priority) => Scheduler.defaultScheduler.scheduleTask(task, priority),
        shouldYield: (fiber) => {
          own ??= fiber
          if (fiber !== own || ++steps !== step) return false
          second = Effect.runFork(
            Feed.runForEach(feed, () =>
              Effect.zipRight(
                Effect.sync(() => void told++),
                Effect.never
              )
            )
          )
          fiber.unsafeInterruptAsFork(fiber.id())
          return 1
        }
      }
      const first = yield* Effect.fork(
        Effect.withScheduler(
          Feed.runForEach(feed, () => Effect.never),
          scheduler
        )
      )
      yield* settled
      yield* Fiber.interrupt(first)
      yield* settled
      if (second !== undefined && told === 0) stuck.push(step)
      if (second !== undefined) yield* Fiber.interrupt(second)
    }
    expect(stuck).toStrictEqual([])
  })
)
