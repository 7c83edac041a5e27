import { Access, SystemActor } from "@atelier/core/access"
import { Audit } from "@atelier/core/audit"
import { apiKeyAudit } from "@atelier/core/identity"
import { Conflict, Uuid } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { databases } from "../../../../test/store/databases.js"
import { runtime } from "../../../../test/store/services.js"
import { Statements } from "../../src/platform/Statements.js"

const subject: Audit.Subject = { action: "create", resource: apiKeyAudit, id: Uuid.nil, target: "ci" }

for (const [name, database] of databases) {
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
