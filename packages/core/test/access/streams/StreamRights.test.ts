import { describe, it } from "@effect/vitest"
import {
  type Actor,
  type CommonJudgement,
  type CommonRenewal,
  CurrentActor,
  publishRightsChange,
  type RightEnded,
  rightTo,
  sessionActor,
  StreamRights
} from "@atelier/core/access"
import { DeploymentOptions, Entitlements, requireFeature } from "@atelier/core/deployment"
import { EventBus, Forbidden, Unauthenticated, Uuid } from "@atelier/core/platform"
import { Deferred, Effect, Either, Exit, Layer, Queue, Stream, TestClock } from "effect"
import { expect } from "vitest"
import { aClock } from "../../aClock.js"
import { turnsCounted } from "../../turnsCounted.js"

const userId = Uuid.Uuid.make("018f0000-0000-7000-8000-000000000001")
const workspaceId = Uuid.Uuid.make("018f0000-0000-7000-8000-000000000003")
const otherWorkspaceId = Uuid.Uuid.make("018f0000-0000-7000-8000-000000000004")
const someoneElse = Uuid.Uuid.make("018f0000-0000-7000-8000-000000000002")

/** What the test takes from a caller, and how often it was asked. */
const aCaller = (name = "key") => {
  const state = {
    ends: undefined as Unauthenticated | undefined,
    refuses: undefined as Forbidden | undefined,
    fails: false,
    hangs: false,
    renewed: 0,
    judged: 0,
    expiresAt: undefined as number | undefined
  }
  const actor = (): Actor => ({
    ...sessionActor({ userId, siteRoles: [], memberships: [] }),
    apiKeyId: name,
    credential: { renew, expiresAt: state.expiresAt }
  })
  const renew = Effect.suspend(() => {
    state.renewed++
    if (state.hangs) return Effect.never
    if (state.fails) return Effect.dieMessage("the store is away")
    return state.ends ?? Effect.succeed(actor())
  })
  const permission = Effect.suspend(() => {
    state.judged++
    return state.refuses ?? Effect.succeed("granted")
  })
  const openAbout = (about: string, needed: typeof permission) =>
    Effect.gen(function* () {
      const [right, granted] = yield* Effect.provideService(
        rightTo(about, () => needed),
        CurrentActor,
        actor()
      )
      expect(granted).toBe("granted")
      const ended = yield* Queue.unbounded<RightEnded>()
      yield* Effect.flatMap(StreamRights, ({ hold }) => hold(right, (reason) => void ended.unsafeOffer(reason)))
      return ended
    })
  const open = openAbout("thing", permission)
  return { state, actor, permission, open, openAbout }
}

const layer = Layer.provideMerge(StreamRights.layer, EventBus.layerMemory)
const bounded = Layer.provide(
  layer,
  Layer.effect(
    DeploymentOptions,
    Effect.map(DeploymentOptions, (options) => ({ ...options, streamsPerCaller: 2 }))
  )
)

const messageOf = (ended: Queue.Dequeue<RightEnded>) => Effect.map(Queue.take(ended), ({ message }) => message)
const size = (ended: Queue.Queue<RightEnded>) => Queue.size(ended)

describe("the right to a stream", () => {
  /** The most that are judged in one turn of the event loop, while the store does not answer for as many others. */
  const judgedInOneTurn = (hanging: number) =>
    Effect.gen(function* () {
      let turn = 0
      let left = 100
      const judgedIn = new Map<number, number>()
      const isOver = yield* Deferred.make<void>()
      const judged = Effect.sync(() => {
        judgedIn.set(turn, (judgedIn.get(turn) ?? 0) + 1)
        if (--left === 0) Deferred.unsafeDone(isOver, Exit.void)
        return "granted"
      })
      for (let index = 0; index < 100; index++) {
        const { openAbout, permission } = aCaller(`key-${index}`)
        let isOpen = false
        const needed = Effect.suspend(() => (isOpen ? judged : permission))
        yield* openAbout("thing", needed)
        isOpen = true
      }
      for (let index = 0; index < hanging; index++) {
        const { open, state } = aCaller(`hanging ${index}`)
        yield* open
        state.hangs = true
        yield* publishRightsChange({ user_id: userId, api_key_id: `hanging ${index}` })
      }
      yield* turnsCounted(() => turn++)
      yield* publishRightsChange({ user_id: userId })
      yield* Deferred.await(isOver)
      return Math.max(...judgedIn.values())
    }).pipe(Effect.provide(layer))

  it.scoped("ends with the licensed feature that its permission needs", () => {
    let isLicensed = true
    const licensed = Layer.succeed(Entitlements, { has: () => isLicensed })
    return Effect.gen(function* () {
      const { openAbout } = aCaller()
      const ended = yield* openAbout("thing", Effect.as(requireFeature("workspace_proxy"), "granted"))
      yield* publishRightsChange({ user_id: userId })
      yield* TestClock.adjust("2 seconds")
      expect(yield* size(ended)).toBe(0)
      isLicensed = false
      yield* publishRightsChange({ user_id: userId })
      yield* TestClock.adjust("2 seconds")
      expect(yield* messageOf(ended)).toContain("workspace_proxy")
    }).pipe(Effect.provide(Layer.provideMerge(layer, licensed)))
  })

  it.scopedLive("lets other work have its turn while those of many credentials are judged", () =>
    Effect.gen(function* () {
      expect(yield* judgedInOneTurn(0)).toBeLessThanOrEqual(20)
    })
  )

  it.scopedLive("lets other work have its turn while those of many credentials are judged one after the other", () =>
    Effect.gen(function* () {
      expect(yield* judgedInOneTurn(7)).toBeLessThanOrEqual(20)
    })
  )

  it.scoped("ends within a second of a change while many others are judged because time has passed", () =>
    Effect.gen(function* () {
      const hold = (name: string) =>
        Effect.gen(function* () {
          const { openAbout, permission, state } = aCaller(name)
          let isOpen = false
          const ended = yield* openAbout(
            "thing",
            Effect.suspend(() => (isOpen ? Effect.delay(permission, "100 millis") : permission))
          )
          isOpen = true
          return { ended, state }
        })
      const others = yield* Effect.forEach(Array.from({ length: 160 }).keys(), (index) => hold(`other ${index}`))
      const { ended, state } = yield* hold("changed")
      yield* TestClock.adjust("20 seconds")
      expect(state.judged).toBe(1)
      state.refuses = new Forbidden({ message: "not yours" })
      yield* publishRightsChange({ user_id: userId, api_key_id: "changed" })
      for (let step = 0; step < 10; step++) yield* TestClock.adjust("100 millis")
      expect(yield* size(ended)).toBe(1)
      const judgedAgain = () => others.filter(({ state: { judged } }) => judged > 1).length
      expect(judgedAgain()).toBeLessThan(160)
      for (let step = 0; step < 20; step++) yield* TestClock.adjust("100 millis")
      expect(judgedAgain()).toBe(160)
    }).pipe(Effect.provide(layer))
  )

  it.scoped("ends at once after a published change that ended the credential", () =>
    Effect.gen(function* () {
      const { open, state } = aCaller()
      const ended = yield* open
      state.ends = new Unauthenticated({ message: "gone" })
      yield* publishRightsChange({ user_id: someoneElse })
      yield* Effect.yieldNow()
      expect(state.renewed).toBe(0)
      yield* publishRightsChange({ user_id: userId })
      expect(yield* messageOf(ended)).toBe("gone")
    }).pipe(Effect.provide(layer))
  )

  it.scoped("ends with the permission, and only once", () =>
    Effect.gen(function* () {
      const { open, state } = aCaller()
      const ended = yield* open
      state.refuses = new Forbidden({ message: "not yours" })
      yield* publishRightsChange({})
      expect(yield* messageOf(ended)).toBe("not yours")
      yield* publishRightsChange({})
      yield* TestClock.adjust("1 minute")
      expect([yield* size(ended), state.renewed]).toStrictEqual([0, 1])
    }).pipe(Effect.provide(layer))
  )

  it.scoped("ends with the right that took the place of another, which ends nothing any more", () =>
    Effect.gen(function* () {
      const [before, after] = [aCaller("old"), aCaller("new")]
      const rightOf = ({ actor, permission }: typeof before) =>
        Effect.provideService(
          rightTo("thing", () => permission),
          CurrentActor,
          actor()
        )
      const [old] = yield* rightOf(before)
      const [next] = yield* rightOf(after)
      const ended = yield* Queue.unbounded<RightEnded>()
      const { hold } = yield* StreamRights
      const held = yield* hold(old, (reason) => void ended.unsafeOffer(reason))
      before.state.ends = new Unauthenticated({ message: "the old one" })
      yield* held.replace(next)
      yield* publishRightsChange({})
      yield* TestClock.adjust("1 minute")
      expect([yield* size(ended), before.state.renewed]).toStrictEqual([0, 0])
      after.state.ends = new Unauthenticated({ message: "the new one" })
      yield* publishRightsChange({})
      expect(yield* messageOf(ended)).toBe("the new one")
    }).pipe(Effect.provide(layer))
  )

  it.scoped("is judged after a change of its own key alone, not of its user's other keys", () =>
    Effect.gen(function* () {
      const { open, state } = aCaller("first")
      const ended = yield* open
      state.ends = new Unauthenticated({ message: "gone" })
      yield* publishRightsChange({ user_id: userId, api_key_id: "second" })
      yield* Effect.yieldNow()
      expect(state.renewed).toBe(0)
      yield* publishRightsChange({ user_id: userId, api_key_id: "first" })
      expect(yield* messageOf(ended)).toBe("gone")
    }).pipe(Effect.provide(layer))
  )

  it.scoped("within a workspace is judged after a change of that workspace, and of no other", () =>
    Effect.gen(function* () {
      const { actor, permission, state } = aCaller()
      const hold = (workspaceId: Uuid.Uuid | undefined) =>
        Effect.gen(function* () {
          const [right] = yield* Effect.provideService(
            rightTo(workspaceId ?? "none", () => permission),
            CurrentActor,
            actor()
          )
          const ended = yield* Queue.unbounded<RightEnded>()
          const held = workspaceId === undefined ? right : right.within(workspaceId)
          yield* Effect.flatMap(StreamRights, (rights) => rights.hold(held, (reason) => void ended.unsafeOffer(reason)))
          return ended
        })
      const [mine, other, none] = yield* Effect.all([hold(workspaceId), hold(otherWorkspaceId), hold(undefined)])
      state.refuses = new Forbidden({ message: "no more" })
      yield* publishRightsChange({ workspace_id: workspaceId })
      expect(yield* messageOf(mine)).toBe("no more")
      expect(yield* Effect.all([size(other), size(none)])).toStrictEqual([0, 0])
      yield* publishRightsChange({ workspace_id: workspaceId })
      yield* publishRightsChange({ workspace_id: otherWorkspaceId })
      expect(yield* messageOf(other)).toBe("no more")
      expect(yield* size(none)).toBe(0)
    }).pipe(Effect.provide(layer))
  )

  it.scoped("ends within 30 seconds without the event", () =>
    Effect.gen(function* () {
      const { open, state } = aCaller()
      const ended = yield* open
      yield* TestClock.adjust("15 seconds")
      expect(state.renewed).toBe(0)
      state.ends = new Unauthenticated({ message: "gone" })
      yield* TestClock.adjust("15 seconds")
      expect(yield* messageOf(ended)).toBe("gone")
    }).pipe(Effect.provide(layer))
  )

  describe("to one of many objects of one kind", () => {
    /** Streams to objects, those of two objects of each credential, which are judged together. */
    const streamsTo = (count: number) =>
      Effect.gen(function* () {
        const state = { refused: new Set<string>(), fails: false, read: [] as Array<number>, alone: 0 }
        const refusalOf = (id: string) => (state.refused.has(id) ? new Forbidden({ message: `no ${id}` }) : undefined)
        const judgement: CommonJudgement = (asked) =>
          Effect.suspend(() => {
            state.read.push(asked.length)
            return state.fails ? Effect.dieMessage("the store is away") : Effect.succeed(({ objectId }) => refusalOf(objectId))
          })
        const open = (index: number) =>
          Effect.gen(function* () {
            const { actor } = aCaller(`key ${Math.floor(index / 2)}`)
            const objectId = Uuid.Uuid.make(`object ${index}`, { disableValidation: true })
            const permission = Effect.suspend(() => {
              state.alone++
              return refusalOf(objectId) ?? Effect.void
            })
            const [right] = yield* Effect.provideService(
              rightTo(`object:${objectId}`, () => permission),
              CurrentActor,
              actor()
            )
            const ended = yield* Queue.unbounded<RightEnded>()
            const { hold } = yield* StreamRights
            yield* hold(right.judgedBy(judgement, objectId), (reason) => void ended.unsafeOffer(reason))
            return ended
          })
        const ended = yield* Effect.forEach(Array.from({ length: count }), (_, index) => open(index))
        state.alone = 0
        return { state, ended: Effect.map(Effect.forEach(ended, Queue.takeAll), (all) => all.flatMap(([first]) => first?.message ?? [])) }
      })

    it.scoped("is judged by one read with the others of its credential", () =>
      Effect.gen(function* () {
        const { ended, state } = yield* streamsTo(6)
        state.refused = new Set(["object 1", "object 4"])
        yield* TestClock.adjust("22 seconds")
        expect([state.read, state.alone, yield* ended]).toStrictEqual([[2, 2, 2], 0, ["no object 1", "no object 4"]])
      }).pipe(Effect.provide(layer))
    )

    it.scoped("is judged alone if they cannot be judged together", () =>
      Effect.gen(function* () {
        const { ended, state } = yield* streamsTo(2)
        state.fails = true
        state.refused = new Set(["object 1"])
        yield* TestClock.adjust("22 seconds")
        expect([state.read, state.alone, yield* ended]).toStrictEqual([[2], 2, ["no object 1"]])
      }).pipe(Effect.provide(layer))
    )
  })

  describe("whose credential is renewed with others", () => {
    /** Callers of one kind, and how many were renewed together each time. */
    const callersOfOneKind = (count: number) =>
      Effect.gen(function* () {
        const state = { ends: new Set<string>(), fails: "", hangs: "", read: [] as Array<number>, alone: 0 }
        const outcome = (actor: Actor): Either.Either<Actor, Unauthenticated> =>
          state.ends.has(actor.apiKeyId ?? "") ? Either.left(new Unauthenticated({ message: "gone" })) : Either.right(actor)
        const together: CommonRenewal = (actors) =>
          Effect.suspend(() => {
            state.read.push(actors.length)
            return actors.some(({ apiKeyId }) => apiKeyId === state.fails)
              ? Effect.dieMessage("the store is away")
              : Effect.succeed(outcome)
          })
        const open = (name: string) =>
          Effect.gen(function* () {
            const actor: Actor = {
              ...sessionActor({ userId, siteRoles: [], memberships: [] }),
              apiKeyId: name,
              credential: {
                together,
                renew: Effect.suspend(() => {
                  state.alone++
                  return state.fails === name ? Effect.dieMessage("the store is away") : outcome(actor)
                })
              }
            }
            const permission = Effect.suspend(() => (state.hangs === name ? Effect.never : Effect.void))
            const [right] = yield* Effect.provideService(
              rightTo("thing", () => permission),
              CurrentActor,
              actor
            )
            const ended = yield* Queue.unbounded<RightEnded>()
            yield* Effect.flatMap(StreamRights, ({ hold }) => hold(right, (reason) => void ended.unsafeOffer(reason)))
            return ended
          })
        const ended = yield* Effect.forEach(
          Array.from({ length: count }, (_, index) => `key ${index}`),
          open
        )
        return {
          state,
          endedOf: Effect.map(Effect.forEach(ended, size), (sizes) => sizes.flatMap((size, index) => (size > 0 ? [index] : [])))
        }
      })

    it.scoped("are judged by one read, and end by themselves", () =>
      Effect.gen(function* () {
        const { endedOf, state } = yield* callersOfOneKind(40)
        state.ends = new Set(["key 3", "key 39"])
        yield* TestClock.adjust("22 seconds")
        expect([state.read, state.alone, yield* endedOf]).toStrictEqual([[32, 8], 0, [3, 39]])
      }).pipe(Effect.provide(layer))
    )

    it.scoped("are judged alone after a judgement together has failed", () =>
      Effect.gen(function* () {
        const { endedOf, state } = yield* callersOfOneKind(5)
        state.fails = "key 1"
        state.ends = new Set(["key 3"])
        yield* TestClock.adjust("24 seconds")
        expect([state.read, yield* endedOf]).toStrictEqual([[5], [3]])
        state.fails = ""
        state.ends = new Set(["key 1"])
        yield* TestClock.adjust("2 seconds")
        expect(yield* endedOf).toStrictEqual([1, 3])
      }).pipe(Effect.provide(layer))
    )

    it.scoped("end although the permission of another does not answer", () =>
      Effect.gen(function* () {
        const { endedOf, state } = yield* callersOfOneKind(5)
        state.hangs = "key 0"
        state.ends = new Set(["key 4"])
        yield* TestClock.adjust("30 seconds")
        expect(yield* endedOf).toStrictEqual([4])
      }).pipe(Effect.provide(layer))
    )
  })

  it.scoped("ends within 30 seconds without the event although the clock was set back", () =>
    Effect.gen(function* () {
      const { set, skewed } = yield* aClock
      const services = yield* Effect.withClock(Layer.build(layer), skewed)
      yield* Effect.gen(function* () {
        const { open, state } = aCaller()
        const ended = yield* open
        yield* TestClock.adjust("5 seconds")
        set(-3_600_000)
        state.ends = new Unauthenticated({ message: "gone" })
        yield* TestClock.adjust("30 seconds")
        expect(yield* size(ended)).toBe(1)
      }).pipe(Effect.provide(services))
    })
  )

  it.scoped("is judged when the credential expires", () =>
    Effect.gen(function* () {
      const { open, state } = aCaller()
      state.expiresAt = 5_000
      const ended = yield* open
      yield* TestClock.adjust("4 seconds")
      expect(state.renewed).toBe(0)
      state.ends = new Unauthenticated({ message: "expired" })
      yield* TestClock.adjust("2 seconds")
      expect(yield* messageOf(ended)).toBe("expired")
    }).pipe(Effect.provide(layer))
  )

  it.scoped("is judged again when something changed while the stream was being opened", () =>
    Effect.gen(function* () {
      const { open, state } = aCaller()
      yield* publishRightsChange({ user_id: userId })
      state.ends = new Unauthenticated({ message: "gone" })
      expect(yield* messageOf(yield* open)).toBe("gone")
    }).pipe(Effect.provide(layer))
  )

  it.scoped("is not judged again because rights of other users changed", () =>
    Effect.gen(function* () {
      const { open, state } = aCaller()
      yield* publishRightsChange({ user_id: someoneElse })
      yield* open
      yield* TestClock.adjust("1 second")
      expect(state.renewed).toBe(0)
      yield* Effect.repeatN(publishRightsChange({ user_id: someoneElse }), 1_000)
      yield* TestClock.adjust("1 second")
      yield* open
      yield* TestClock.adjust("1 second")
      expect(state.renewed).toBe(1)
      yield* TestClock.adjust("11 seconds")
      yield* open
      yield* TestClock.adjust("1 second")
      expect(state.renewed).toBe(1)
    }).pipe(Effect.provide(layer))
  )

  it.scoped("does not end because the store is away, and ends when it is back", () =>
    Effect.gen(function* () {
      const { open, state } = aCaller()
      const ended = yield* open
      state.fails = true
      yield* publishRightsChange({})
      yield* TestClock.adjust("40 seconds")
      expect([yield* size(ended), state.renewed > 1]).toStrictEqual([0, true])
      state.fails = false
      state.ends = new Unauthenticated({ message: "gone" })
      yield* TestClock.adjust("1 second")
      expect(yield* messageOf(ended)).toBe("gone")
    }).pipe(Effect.provide(layer))
  )

  it.scoped("is judged a second after the store failed", () =>
    Effect.gen(function* () {
      const { open, state } = aCaller()
      const ended = yield* open
      state.fails = true
      yield* publishRightsChange({})
      yield* Effect.replicateEffect(Effect.yieldNow(), 20)
      state.fails = false
      state.ends = new Unauthenticated({ message: "gone" })
      yield* TestClock.adjust("1 second")
      expect(yield* size(ended)).toBe(1)
    }).pipe(Effect.provide(layer))
  )

  it.scoped("ends although the store of other sessions does not answer", () =>
    Effect.gen(function* () {
      const { open, state } = aCaller()
      const ended = yield* open
      const others = Array.from({ length: 8 }, (_, index) => aCaller(`other ${index}`))
      for (const other of others) {
        yield* other.open
        other.state.hangs = true
      }
      yield* publishRightsChange({})
      yield* TestClock.adjust("4 seconds")
      state.ends = new Unauthenticated({ message: "gone" })
      yield* publishRightsChange({})
      yield* TestClock.adjust("1 second")
      expect(yield* size(ended)).toBe(1)
      for (const other of others) {
        other.state.hangs = false
        other.state.refuses = new Forbidden({ message: "not yours" })
      }
      const before = others.map(({ state: { judged } }) => judged)
      yield* TestClock.adjust("4 seconds")
      expect(others.map(({ state: { judged } }) => judged)).toStrictEqual(before.map((judged) => judged + 1))
    }).pipe(Effect.provide(layer))
  )

  it.scoped("ends although another permission of the credential cannot be judged", () =>
    Effect.gen(function* () {
      const { open, openAbout, permission, state } = aCaller()
      let isBroken = false
      const broken = yield* openAbout(
        "broken",
        Effect.suspend(() => (isBroken ? Effect.dieMessage("a defect") : permission))
      )
      const ended = yield* open
      isBroken = true
      state.refuses = new Forbidden({ message: "not yours" })
      yield* publishRightsChange({})
      yield* TestClock.adjust("1 second")
      expect([yield* size(broken), yield* size(ended)]).toStrictEqual([0, 1])
    }).pipe(Effect.provide(layer))
  )

  it.scoped("is judged once for all streams of one credential and object", () =>
    Effect.gen(function* () {
      const { open, state } = aCaller()
      yield* Effect.replicateEffect(open, 50)
      const before = state.judged
      yield* publishRightsChange({})
      yield* TestClock.adjust("1 second")
      expect([state.renewed, state.judged - before]).toStrictEqual([1, 1])
    }).pipe(Effect.provide(layer))
  )

  it.scoped("is refused beyond a caller's limit, over all of its keys", () =>
    Effect.gen(function* () {
      yield* aCaller("one").open
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* aCaller("two").open
          expect(yield* Effect.flip(aCaller("three").open)).toMatchObject({ _tag: "TooManyStreams" })
        })
      )
      yield* aCaller("three").open
    }).pipe(Effect.provide(bounded))
  )

  it.scoped("is the length of the stream, for callers without HTTP", () =>
    Effect.gen(function* () {
      const { actor, permission, state } = aCaller()
      const { values } = yield* StreamRights
      const [right] = yield* Effect.provideService(
        rightTo("thing", () => permission),
        CurrentActor,
        actor()
      )
      expect(yield* Stream.runCollect(values({ right, values: Stream.make(1, 2) }))).toHaveLength(2)
      const first = yield* Queue.unbounded<number>()
      const following = values({ right, values: Stream.concat(Stream.make(1), Stream.never) })
      const outcome = yield* Effect.fork(Effect.flip(Stream.runForEach(following, (value) => Queue.offer(first, value))))
      yield* Queue.take(first)
      state.ends = new Unauthenticated({ message: "gone" })
      yield* publishRightsChange({})
      expect(yield* outcome).toMatchObject({ _tag: "RightEnded", message: "gone" })
    }).pipe(Effect.provide(layer))
  )
})
