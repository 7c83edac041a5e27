import { Access, SystemActor } from "@atelier/core/access"
import { Audit, Audited } from "@atelier/core/audit"
import { apiKeyAudit } from "@atelier/core/identity"
import { Conflict, Uuid } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { databases } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"
import { Statements } from "../../src/platform/Statements.js"

const subject: Audit.Subject = { action: "create", resource: apiKeyAudit, id: Uuid.nil, target: "ci" }

const thing = Audited.auditedResource<{ readonly name: string }>({ type: "group", endsRightsOf: "none", fields: { name: Audited.audited } })

for (const [name, database] of databases) {
  layer(Layer.merge(database, runtime))(`the entry of a deletion on ${name}`, (it) => {
    it.effect("has the name that the object had when it was deleted", () =>
      Effect.gen(function* () {
        const sql = yield* Statements
        // Renamed between its lookup and its lock
        yield* Audit.audited(
          { action: "delete", resource: thing, id: Uuid.nil, target: "found" },
          Effect.succeed({ value: undefined, before: { name: "locked" } })
        )
        expect(yield* sql`SELECT resource_target FROM audit_logs`).toStrictEqual([{ resource_target: "locked" }])
      }).pipe(Access.actingAs(SystemActor.systemRestricted))
    )
  })

  layer(Layer.merge(database, runtime))(`a log that takes no entries on ${name}`, (it) => {
    it.effect("lets no change happen, and hides no refusal", () =>
      Effect.gen(function* () {
        const sql = yield* Statements
        yield* sql`DROP TABLE audit_logs`
        const insert = sql`INSERT INTO deployment_values ${sql.insert({ key: "change", value: "" })}`
        const change = Effect.exit(Audit.audited(subject, Effect.as(Effect.orDie(insert), { value: undefined })))
        expect((yield* change)._tag).toBe("Failure")
        expect(yield* sql`SELECT key FROM deployment_values WHERE key = 'change'`).toStrictEqual([])
        const refused = yield* Effect.flip(Audit.audited(subject, new Conflict({ message: "is taken" })))
        expect(refused.message).toBe("is taken")
      }).pipe(Access.actingAs(SystemActor.systemRestricted))
    )
  })
}
