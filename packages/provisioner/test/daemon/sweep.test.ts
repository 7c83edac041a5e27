/** What engines of a daemon are told when they look for what belongs to no workspace. */
import type { ProvisionerDaemonClient } from "@atelier/agent-protocol"
import { CallFailed } from "@atelier/agent-protocol"
import { Uuid } from "@atelier/core/platform"
import { type Engine, ProvisionerEngines } from "@atelier/core/provisioning"
import { expect, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { sweeping } from "../../src/daemon/sweep.js"
import { uuid } from "../builders.js"

type Judge = ProvisionerDaemonClient["JudgeRemains"]

/** Lets an engine sweep once, with a server that judges so, and returns what it hears of these ids. */
const heard = (judge: Judge, ids: ReadonlyArray<Uuid.Uuid>) =>
  Effect.gen(function* () {
    const told = yield* Deferred.make<{ readonly existing: ReadonlySet<Uuid.Uuid>; readonly unsuccessful: ReadonlySet<Uuid.Uuid> }>()
    const engine = {
      sweep: (exists, unsuccessful) =>
        Effect.all({ existing: exists(ids), unsuccessful: unsuccessful(ids) }).pipe(
          Effect.flatMap((all) => Deferred.succeed(told, all)),
          Effect.asVoid
        )
    } as Engine // Nothing else of it is asked
    yield* Effect.provideService(sweeping({ JudgeRemains: judge } as ProvisionerDaemonClient), ProvisionerEngines, [engine])
    return yield* Deferred.await(told)
  })

const ids = Array.from({ length: 1_200 }, (_, index) => uuid(index))

it.scoped("is what the server says, asked for in parts", () =>
  Effect.gen(function* () {
    const sizes: Array<number> = []
    const judge: Judge = ({ build_ids = [], workspace_ids = [] }) => {
      sizes.push(workspace_ids.length + build_ids.length)
      return Effect.succeed({ existing_workspace_ids: workspace_ids.slice(1), unsuccessful_build_ids: build_ids.slice(0, 1) })
    }
    const { existing, unsuccessful } = yield* heard(judge, ids)
    expect([existing.size, unsuccessful.size]).toStrictEqual([1_197, 3])
    expect(sizes).toStrictEqual([500, 500, 200, 500, 500, 200])
  })
)

it.scoped("leaves everything alone where the server does not say", () =>
  Effect.gen(function* () {
    const { existing, unsuccessful } = yield* heard(() => new CallFailed({ reason: "connection", message: "unknown rpc" }), ids)
    expect([existing.size, unsuccessful.size]).toStrictEqual([1_200, 0])
  })
)
