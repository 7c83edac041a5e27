import { BuildResources } from "@atelier/core/agents"
import { UserRepository } from "@atelier/core/identity"
import { InsightsRepository } from "@atelier/core/insights"
import { OrganizationRepository } from "@atelier/core/organizations"
import { Timestamp, type Uuid } from "@atelier/core/platform"
import { type Template, TemplateRepository } from "@atelier/core/templates"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { anOrganization, aUser } from "../../../../test/records/builders.js"
import { databases } from "../../../../test/store/databases.js"
import { anAgent, anApp, aResource } from "../../../../test/records/resources.js"
import { storedTemplate, storedVersion, storedWorkspace, type WorkspaceParts } from "../../../../test/records/workspaces.js"
import { agentServices } from "../agents/services.js"

const at = (text: string) => Timestamp.Timestamp.make(`2026-03-02T${text}:00.000Z`)

const aTemplate = Effect.gen(function* () {
  const organization = yield* anOrganization()
  yield* (yield* OrganizationRepository).insert(organization)
  const owner = yield* aUser()
  yield* (yield* UserRepository).insert(owner, null)
  return { owner, template: yield* storedTemplate({ organization_id: organization.id, created_by: owner.id }) }
})

/** A started workspace of a template with apps of some names, which are each called by the version and the slug. */
const started = (template: Template, ownerId: Uuid.Uuid, shown: string, slugs: ReadonlyArray<string>, parts: WorkspaceParts) =>
  Effect.gen(function* () {
    const { build } = yield* storedWorkspace(template, ownerId, parts)
    const apps = slugs.map((slug) => anApp({ slug, display_name: `${slug} ${shown}` }))
    yield* (yield* BuildResources).insert({ job_id: build.job_id, transition: "start" }, [aResource({ agents: [anAgent({ apps })] })])
  })

const used = (template: Template, user: { readonly id: Uuid.Uuid }, start: string, app_usage_mins: Readonly<Record<string, number>>) => ({
  start_time: at(start),
  end_time: at(start.replace(":00", ":30")),
  template_id: template.id,
  user_id: user.id,
  median_latency_ms: null,
  usage_mins: 10,
  ssh_mins: 0,
  sftp_mins: 0,
  reconnecting_pty_mins: 0,
  vscode_mins: 0,
  jetbrains_mins: 0,
  app_usage_mins
})

for (const [name, database] of databases) {
  layer(agentServices(database))(`reports on templates on ${name}`, (it) => {
    it.effect("name the apps that were used by their newest definition", () =>
      Effect.gen(function* () {
        const { owner, template } = yield* aTemplate
        const other = yield* aTemplate
        const insights = yield* InsightsRepository
        const next = yield* storedVersion({ organization_id: template.organization_id, created_by: owner.id, template_id: template.id })
        const of = (created: string, version = template.active_version_id): WorkspaceParts => ({
          build: { created_at: at(created), template_version_id: version }
        })
        yield* started(template, owner.id, "first", ["web", "docs", "idle"], of("08:00"))
        yield* started(template, owner.id, "second", ["web"], of("09:00"))
        yield* started(template, owner.id, "next", ["docs"], of("10:00", next.id))
        yield* started(other.template, other.owner.id, "other", ["web"], {})
        yield* insights.putUsage([
          used(template, owner, "11:00", { web: 5, docs: 5, "[terminal]": 1, "8080": 1 }),
          used(template, owner, "14:00", { idle: 5 }),
          used(other.template, other.owner, "11:00", { web: 5 })
        ])

        const within = { from: at("11:00"), to: at("12:00") }
        const found = (ids?: ReadonlyArray<Uuid.Uuid>) =>
          Effect.map(insights.appDefinitions(within, ids), (all) => all.map(({ display_name }) => display_name).toSorted())
        expect(yield* found()).toStrictEqual(["docs next", "web other", "web second"])
        expect(yield* found([template.id])).toStrictEqual(["docs next", "web second"])
      })
    )

    it.effect("measure the newest successful builds of each transition, of all versions together", () =>
      Effect.gen(function* () {
        const { owner, template } = yield* aTemplate
        const next = yield* storedVersion({ organization_id: template.organization_id, created_by: owner.id, template_id: template.id })
        const built = (minutes: number, parts: WorkspaceParts) =>
          storedWorkspace(template, owner.id, {
            ...parts,
            job: { started_at: at("08:00"), completed_at: at(`08:${String(minutes).padStart(2, "0")}`), ...parts.job }
          })
        yield* built(1, {})
        yield* built(3, { build: { template_version_id: next.id } })
        yield* built(5, {})
        yield* built(50, { job: { error: "failed" } })
        yield* built(7, { build: { transition: "stop" } })

        const templates = yield* TemplateRepository
        yield* templates.refreshStatistics
        const stored = yield* templates.byId(template.id)
        expect(stored).toMatchObject({
          _tag: "Some",
          value: {
            active_user_count: 1,
            build_time_stats: {
              start: { P50: 180_000, P95: 300_000 },
              stop: { P50: 420_000, P95: 420_000 },
              delete: { P50: null, P95: null }
            }
          }
        })
      })
    )
  })
}
