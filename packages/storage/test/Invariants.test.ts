import { BuildResources } from "@atelier/core/agents"
import { NodeEncryption } from "@atelier/node"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { aBuild, aWorkspace } from "../../../test/records/agentWorkspaces.js"
import { databases } from "../../../test/store/databases.js"
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
    }
  )
}
