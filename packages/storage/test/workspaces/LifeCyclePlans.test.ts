import { UserRepository } from "@atelier/core/identity"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp, type Uuid } from "@atelier/core/platform"
import { type DueTimes, QuotaRepository, WorkspaceLifeCycleRepository } from "@atelier/core/workspaces"
import { expect, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { aUser, anOrganization } from "../../../../test/records/builders.js"
import { databases } from "../../../../test/store/databases.js"
import { manyWorkspaces } from "../../../../test/records/manyWorkspaces.js"
import { runtime } from "../../../../test/store/services.js"
import { chosenPlanOf, planOf, statementsOf } from "../../../../test/store/statements.js"
import { storedTemplate } from "../../../../test/records/workspaces.js"
import { Statements } from "../../src/platform/Statements.js"

const count = 2000

class Populated extends Context.Tag("Populated")<Populated, { readonly templateId: Uuid.Uuid }>() {}

/** Many workspaces; each rule applies to a few of them. Two thirds run, one third is stopped. */
const populated = Layer.effect(
  Populated,
  Effect.gen(function* () {
    const users = yield* UserRepository
    const sql = yield* Statements
    const organization = yield* anOrganization()
    yield* (yield* OrganizationRepository).insert(organization)
    const [active, suspended] = [yield* aUser(), yield* aUser({ status: "suspended" })]
    yield* users.insert(active, null)
    yield* users.insert(suspended, null)
    const template = yield* storedTemplate({
      organization_id: organization.id,
      created_by: active.id,
      failure_ttl_ms: 60_000,
      time_til_dormant_ms: 60_000,
      time_til_dormant_autodelete_ms: 60_000
    })
    yield* manyWorkspaces({
      count,
      owners: [active.id],
      organization_id: organization.id,
      template_id: template.id,
      template_version_id: template.active_version_id
    })
    const past = "2026-02-01T00:00:00.000Z"
    const future = "2099-01-01T00:00:00.000Z"
    const idOf = (name: string) => sql`(SELECT id FROM workspaces WHERE name = ${name})`
    yield* sql`UPDATE workspaces SET last_used_at = ${future}, autostart_schedule = '0 9 * * *', next_start_at = ${future}`
    yield* sql`UPDATE workspace_builds SET deadline = ${future} WHERE transition = 'start'`
    yield* sql`UPDATE workspace_builds SET deadline = ${past} WHERE workspace_id = ${idOf("w1")}`
    yield* sql`UPDATE workspaces SET owner_id = ${suspended.id} WHERE name = 'w2'`
    yield* sql`UPDATE workspaces SET next_start_at = ${past} WHERE name IN ('w3', 'w4')`
    yield* sql`UPDATE workspaces SET next_start_at = NULL WHERE name = 'w6'`
    yield* sql`UPDATE provisioner_jobs SET error = 'broken' WHERE id = (SELECT latest_job_id FROM workspaces WHERE name = 'w7')`
    yield* sql`UPDATE workspaces SET last_used_at = ${past} WHERE name = 'w8'`
    yield* sql`UPDATE workspaces SET dormant_at = ${past}, deleting_at = ${past} WHERE name = 'w10'`
    yield* sql`UPDATE workspaces SET dormant_at = ${past}, deleting_at = ${future} WHERE name = 'w11'`
    // Long dormant, and never deleted
    yield* sql`UPDATE workspaces SET dormant_at = ${past}, last_used_at = ${past} WHERE name LIKE 'w1___'`
    // Of another template, so that PostgreSQL prefers an index that has the template
    const other = yield* storedTemplate({ organization_id: organization.id, created_by: active.id })
    yield* sql`UPDATE workspaces SET template_id = ${other.id} WHERE name LIKE 'w___'`
    yield* sql.dialect({ postgres: () => sql`ANALYZE`, sqlite: () => Effect.void })
    return { templateId: template.id }
  })
)

for (const [name, database] of databases) {
  const world = populated.pipe(Layer.provideMerge(Layer.merge(database, runtime)))
  layer(world)(`due workspaces on ${name}`, (it) => {
    const due = (times: Partial<DueTimes> = {}) =>
      Effect.gen(function* () {
        const { templateId } = yield* Populated
        const tick = Timestamp.Timestamp.make("2026-03-01T00:00:00.000Z")
        const limits = [{ template_id: templateId, before: tick }]
        const repository = yield* WorkspaceLifeCycleRepository
        return yield* repository.due(
          { tick, policies: true, failed_before: limits, unused_before: limits, ...times },
          { after: undefined, limit: 100 }
        )
      })

    it.effect("are counted for a quota by their owner", () =>
      Effect.gen(function* () {
        const sql = yield* Statements
        const quotas = yield* QuotaRepository
        const [workspace] = yield* sql<{ owner_id: Uuid.Uuid; organization_id: Uuid.Uuid }>`
          SELECT owner_id, organization_id FROM workspaces WHERE name = 'w2'`
        if (workspace === undefined) return expect.fail("w2 is missing")
        const { statements } = yield* statementsOf(quotas.consumed(workspace.organization_id, workspace.owner_id))
        const plans = yield* Effect.forEach(statements, chosenPlanOf)
        expect(plans.join("\n")).toMatch(/workspaces_(owner_id_name_key|by_owner|favorite|started_by_owner)/)
      })
    )

    it.effect("are found by every rule, each once", () =>
      Effect.gen(function* () {
        const sql = yield* Statements
        const ids = yield* due()
        const rows = yield* sql<{ readonly name: string }>`SELECT name FROM workspaces WHERE id IN ${sql.in(ids)} ORDER BY id`
        expect(rows.map((row) => row.name)).toStrictEqual(["w1", "w2", "w3", "w6", "w7", "w8", "w10"])
      })
    )

    it.effect("are found without limits of templates", () =>
      Effect.gen(function* () {
        expect(yield* due({ policies: false, failed_before: [], unused_before: [] })).toHaveLength(4)
      })
    )

    it.effect("are found by indexes of due times", () =>
      Effect.gen(function* () {
        const { statements } = yield* statementsOf(due())
        expect(statements).toHaveLength(1)
        for (const statement of statements) {
          const plan = yield* planOf(statement)
          expect(plan).not.toMatch(/Seq Scan on (?:workspaces|workspace_builds|provisioner_jobs)\b|^SCAN [wb]\b/m)
          for (const index of [
            "workspace_builds_by_deadline",
            "workspaces_started_by_owner",
            "workspaces_by_next_start",
            "workspaces_without_next_start",
            "workspaces_by_failure",
            "workspaces_awake_by_use",
            "workspaces_by_deletion"
          ]) {
            expect(plan).toContain(index)
          }
        }
      })
    )

    it.effect("are not looked for where the template allows no day for a start", () =>
      Effect.gen(function* () {
        const { templateId } = yield* Populated
        const sql = yield* Statements
        const names = Effect.gen(function* () {
          const rows = yield* sql<{ readonly name: string }>`SELECT name FROM workspaces WHERE id IN ${sql.in(yield* due())} ORDER BY id`
          return rows.map((row) => row.name)
        })
        yield* sql`UPDATE templates SET autostart_block_days_of_week = 127 WHERE id = ${templateId}`
        expect(yield* names).toStrictEqual(["w1", "w2", "w7", "w8", "w10"])
        yield* sql`UPDATE templates SET autostart_block_days_of_week = 126 WHERE id = ${templateId}`
        expect(yield* names).toStrictEqual(["w1", "w2", "w3", "w6", "w7", "w8", "w10"])
        yield* sql`UPDATE templates SET autostart_block_days_of_week = 0 WHERE id = ${templateId}`
      })
    )

    it.effect("are found by the end of their time", () =>
      Effect.gen(function* () {
        const sql = yield* Statements
        yield* sql`UPDATE workspaces SET expires_at = ${Timestamp.Timestamp.make("2099-01-01T00:00:00.000Z")}`
        const end = Timestamp.Timestamp.make("2026-03-01T00:00:00.000Z")
        yield* sql`UPDATE workspaces SET expires_at = ${end} WHERE name = 'w1'`
        yield* sql.dialect({ postgres: () => sql`ANALYZE workspaces`, sqlite: () => Effect.void })
        const repository = yield* WorkspaceLifeCycleRepository
        const expired = (now: Timestamp.Timestamp) => repository.expired(now, { after: undefined, limit: 10 })
        expect(yield* expired(Timestamp.minus(end, 1))).toStrictEqual([])
        const { statements, value } = yield* statementsOf(expired(end))
        expect(value).toHaveLength(1)
        const plan = yield* planOf(statements[0] ?? { text: "", parameters: [] })
        expect(plan).toContain("workspaces_by_expiry")
        expect(plan).not.toMatch(/Seq Scan on workspaces\b|^SCAN workspaces\b/m)
      })
    )

    const now = Timestamp.Timestamp.make("2098-12-31T23:30:00.000Z")
    const approaching = Effect.gen(function* () {
      const { templateId } = yield* Populated
      const repository = yield* WorkspaceLifeCycleRepository
      const leads = [{ template_id: templateId, until: Timestamp.plus(now, "1 hour") }]
      return yield* repository.approachingStops(leads, { now, used_after: Timestamp.plus(now, "400 days"), limit: 10 })
    })

    it.effect("are found by their deadline when a reminder is due", () =>
      Effect.gen(function* () {
        const sql = yield* Statements
        const { statements, value } = yield* statementsOf(approaching)
        expect(value).toHaveLength(10)
        const plan = yield* planOf(statements[0] ?? { text: "", parameters: [] })
        expect(plan).toContain("workspace_builds_by_deadline")
        expect(plan).not.toMatch(/Seq Scan on (?:workspaces|workspace_builds)\b|^SCAN [wb]\b/m)
        const repository = yield* WorkspaceLifeCycleRepository
        const [first, second] = value
        if (first === undefined || second === undefined) return expect.unreachable()
        expect(yield* repository.markReminded(first.build_id, first.deadline)).toBe(true)
        expect(yield* repository.markReminded(first.build_id, first.deadline)).toBe(false)
        expect((yield* approaching).map(({ id }) => id)).not.toContain(first.id)
        const later = Timestamp.plus(first.deadline, "1 minute")
        yield* sql`UPDATE workspace_builds SET deadline = ${later} WHERE id = ${first.build_id}`
        expect(yield* repository.markReminded(first.build_id, first.deadline)).toBe(false)
        expect(yield* repository.markReminded(first.build_id, later)).toBe(true)
      })
    )
  })
}
