import { expect, it } from "@effect/vitest"
import { Effect, Exit, Option, Scope } from "effect"
import { nil } from "../../../src/platform/texts/Uuid.js"
import { makeDaemonGroups, type DaemonCapabilities } from "../../../src/provisioning/queue/DaemonGroups.js"
import { untagged } from "../../../src/provisioning/queue/ProvisionerTags.js"

const daemon: DaemonCapabilities = { organization_id: nil, provisioners: ["echo"], tags: untagged }

it.scoped("daemons that take the same jobs share turns until the last one leaves", () =>
  Effect.gen(function* () {
    const groups = makeDaemonGroups()
    const [first, second] = [yield* Scope.make(), yield* Scope.make()]
    const turns = yield* Scope.extend(groups.join(daemon), first)
    expect(yield* Scope.extend(groups.join({ ...daemon }), second)).toBe(turns)
    expect(yield* groups.join({ ...daemon, tags: { ...untagged, site: "a" } })).not.toBe(turns)
    expect(yield* groups.join({ ...daemon, engines: new Set(["local"]) })).not.toBe(turns)
    yield* Scope.close(first, Exit.void)
    expect(yield* groups.join(daemon)).toBe(turns)
    yield* Scope.close(second, Exit.void)
  })
)

it.scoped("a group without daemons is forgotten, and the next daemon asks for jobs at once", () =>
  Effect.gen(function* () {
    const groups = makeDaemonGroups()
    const before = yield* Effect.scoped(groups.join(daemon))
    const turns = yield* groups.join(daemon)
    expect(turns).not.toBe(before)
    expect(yield* turns.next(Effect.succeedSome("a"))).toBe("a")
  })
)

it.scoped("a posted job is told to the groups that can take it", () =>
  Effect.gen(function* () {
    const groups = makeDaemonGroups()
    const told: Array<string> = []
    for (const [name, capabilities] of [
      ["same", daemon],
      ["other tags", { ...daemon, tags: { ...untagged, site: "a" } }],
      ["other type", { ...daemon, provisioners: ["terraform"] }]
    ] as const) {
      const turns = yield* groups.join(capabilities)
      // Until the store has none, jobs are asked for without a posting
      const asking = turns.next(Effect.sync(() => (told.push(name), Option.none())))
      yield* Effect.forkScoped(asking)
    }
    yield* Effect.repeatN(Effect.yieldNow(), 50)
    told.length = 0
    groups.heard({ _tag: "Event", event: { organization_id: nil, type: "echo", tags: untagged } })
    yield* Effect.repeatN(Effect.yieldNow(), 50)
    expect(told).toStrictEqual(["same"])
    groups.heard({ _tag: "Lost" })
    yield* Effect.repeatN(Effect.yieldNow(), 50)
    expect(told.toSorted()).toStrictEqual(["other tags", "other type", "same", "same"])
  })
)
