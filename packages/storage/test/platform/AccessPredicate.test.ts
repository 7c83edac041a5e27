import { actionsOf, decide, listPredicate } from "@atelier/core/access"
import { expect, layer } from "@effect/vitest"
import { Effect, Runtime } from "effect"
import * as fc from "fast-check"
import * as arbitrary from "../../../core/test/access/arbitraries.js"
import { databases } from "../../../../test/store/databases.js"
import { accessCondition } from "../../src/platform/AccessPredicate.js"
import { insertAll } from "../../src/platform/Batch.js"
import { dialectOf } from "../../src/platform/Dialect.js"
import { Statements } from "../../src/platform/Statements.js"

const columns = { id: "id", org: "org", owner: "owner", userAcl: "user_acl", groupAcl: "group_acl" }

for (const [name, database] of databases) {
  layer(database)(`the condition of a list on ${name}`, (it) => {
    it.effect("admits exactly the rows that the decision allows", () =>
      Effect.gen(function* () {
        const sql = yield* Statements
        const run = Runtime.runPromise(yield* Effect.runtime<Statements>())
        const { json } = dialectOf(sql).types
        yield* sql.batch([
          `CREATE TABLE objects (position INTEGER, type TEXT, id TEXT, org TEXT, owner TEXT, user_acl ${json}, group_acl ${json})`
        ])
        // A failure names the seed of the property, from which the objects follow too
        const seed = Math.trunc(Math.random() * 2 ** 31)
        const objects = fc.sample(arbitrary.storedObject, { numRuns: 400, seed })
        const rows = objects.map(({ aclGroup, aclUser, id, org, owner, type }, position) => ({
          position,
          type,
          id,
          org,
          owner,
          user_acl: JSON.stringify(aclUser ?? null),
          group_acl: aclGroup === null ? null : JSON.stringify(aclGroup)
        }))
        yield* insertAll(sql, "objects", rows)

        const property = fc.asyncProperty(arbitrary.subject, arbitrary.action, arbitrary.type, async (subject, action, type) => {
          fc.pre(actionsOf(type).includes(action))
          const condition = accessCondition(sql, listPredicate(subject, action, type), columns)
          const admitted = await run(
            sql<{ position: number }>`SELECT position FROM objects WHERE type = ${type} AND ${condition} ORDER BY position`
          )
          const allowed = [...objects.entries()].filter(([, object]) => object.type === type && decide(subject, action, object))
          expect(admitted.map(({ position }) => position)).toStrictEqual(allowed.map(([position]) => position))
        })
        yield* Effect.promise(() => fc.assert(property, { numRuns: 150, seed }))
      })
    )
  })
}
