import { BuildResources } from "@atelier/core/agents"
import { Ids, Timestamp } from "@atelier/core/platform"
import { NodeEncryption } from "@atelier/node"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, TestClock } from "effect"
import { aBuild, aWorkspace } from "../../../test/records/agentWorkspaces.js"
import { databases } from "../../../test/store/databases.js"
import { storeRow } from "../../../test/store/schema.js"
import { runtime } from "../../../test/store/services.js"
import { violationsIn } from "../src/invariants/index.js"
import { Statements } from "../src/platform/Statements.js"

const broken = Effect.map(violationsIn, (violations) => [...new Set(violations.map(({ invariant }) => invariant.name))])

for (const [name, database] of databases) {
  layer(BuildResources.layer.pipe(Layer.provideMerge(NodeEncryption.layer()), Layer.provideMerge(database), Layer.provideMerge(runtime)))(
    `the invariants on ${name}`,
    (it) => {
      it.effect("hold of a workspace, and name what does not agree", () =>
        Effect.gen(function* () {
          const sql = yield* Statements
          const stored = yield* aWorkspace()
          const { build } = yield* aBuild(stored, { status: "running" })
          expect(yield* broken).toStrictEqual([])
          yield* sql`UPDATE workspaces SET latest_status = 'stopped' WHERE id = ${stored.workspace.id}`
          expect(yield* broken).toStrictEqual(["statuses-follow-from-builds"])
          yield* sql`UPDATE provisioner_jobs SET claim_id = ${build.id}, completed_at = created_at WHERE id = ${build.job_id}`
          expect(yield* broken).toStrictEqual(["ended-jobs-are-released", "claimed-jobs-run"])
        })
      )

      it.effect("a build needs no audit entry if it was canceled before it began", () =>
        Effect.gen(function* () {
          const sql = yield* Statements
          const id = yield* Effect.flatMap(Ids, ({ next }) => next)
          const ids = { user_id: id, organization_id: id, resource_id: id, request_id: id }
          yield* storeRow("audit_logs", { id, time: yield* Timestamp.now, action: "write", ...ids })
          yield* TestClock.adjust("1 second")
          const { build } = yield* aBuild(yield* aWorkspace(), { status: "canceled" })
          const unaudited = Effect.map(violationsIn, (violations) =>
            violations.some(({ invariant, row }) => invariant.name === "ended-builds-are-audited" && row.includes(build.id))
          )
          expect(yield* unaudited).toBe(true)
          yield* sql`UPDATE provisioner_jobs SET started_at = NULL WHERE id = ${build.job_id}`
          expect(yield* unaudited).toBe(false)
        })
      )

      it.effect("a workspace needs one audit entry of its creation", () =>
        Effect.gen(function* () {
          const id = yield* Effect.flatMap(Ids, ({ next }) => next)
          const entry = { time: yield* Timestamp.now, user_id: id, organization_id: id, request_id: id }
          yield* storeRow("audit_logs", { ...entry, id, action: "write", resource_id: id })
          yield* TestClock.adjust("1 second")
          const { workspace } = yield* aWorkspace()
          const unaudited = Effect.map(violationsIn, (violations) =>
            violations
              .filter(({ invariant, row }) => invariant.name === "created-workspaces-are-audited" && row.includes(workspace.id))
              .map(({ row }) => row)
          )
          expect(yield* unaudited).toStrictEqual([`workspace=${workspace.id} entries=0`])
          const other = yield* Effect.flatMap(Ids, ({ next }) => next)
          yield* storeRow("audit_logs", { ...entry, id: other, action: "create", resource_type: "workspace", resource_id: workspace.id })
          expect(yield* unaudited).toStrictEqual([])
        })
      )
    }
  )
}
