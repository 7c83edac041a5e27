import { prebuildsUserId } from "@atelier/core/access"
import { BuildResources } from "@atelier/core/agents"
import { UserRepository } from "@atelier/core/identity"
import { MetricsRepository } from "@atelier/core/insights"
import { OrganizationRepository } from "@atelier/core/organizations"
import { noPrebuildPolicy } from "@atelier/core/provisioning"
import { type Template, TemplateVersionRepository } from "@atelier/core/templates"
import { Ids, Timestamp, Uuid } from "@atelier/core/platform"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { anOrganization, aUser } from "../../../../test/records/builders.js"
import { databases } from "../../../../test/store/databases.js"
import { anAgent, aResource } from "../../../../test/records/resources.js"
import { planOf, statementsOf } from "../../../../test/store/statements.js"
import { storedTemplate, storedVersion, storedWorkspace, type WorkspaceParts } from "../../../../test/records/workspaces.js"
import { agentServices } from "../agents/services.js"
import { Statements } from "../../src/platform/Statements.js"

const keeper = Uuid.Uuid.make(prebuildsUserId)

/** A template, and its owner. */
const aTemplate = Effect.gen(function* () {
  const organization = yield* anOrganization()
  yield* (yield* OrganizationRepository).insert(organization)
  const owner = yield* aUser()
  yield* (yield* UserRepository).insert(owner, null)
  return { owner, template: yield* storedTemplate({ organization_id: organization.id, created_by: owner.id }) }
})

/** A version's preset of two ready workspaces. */
const aPreset = (versionId: Uuid.Uuid, name: string) =>
  Effect.gen(function* () {
    const id = yield* (yield* Ids).next
    const preset = {
      id,
      template_version_id: versionId,
      name,
      description: "",
      icon: "",
      default: false,
      parameters: [],
      desired_prebuild_instances: 2
    }
    yield* (yield* TemplateVersionRepository).storePlanned(versionId, {
      parameters: [],
      presets: [{ ...preset, prebuild_policy: noPrebuildPolicy }],
      has_ai_task: false,
      has_external_agent: false,
      engine: null,
      updated_at: yield* Timestamp.now
    })
    return id
  })

type Place = Pick<Template, "id" | "organization_id" | "active_version_id">

/** A workspace that was made for a preset. Without an owner it waits for one. */
const aPrebuild = (template: Place, presetId: Uuid.Uuid, ownerId = keeper, parts: WorkspaceParts = {}) =>
  storedWorkspace(template, ownerId, { ...parts, build: { initiator_id: keeper, template_version_preset_id: presetId, ...parts.build } })

const ready = (jobId: Uuid.Uuid, lifecycle: "ready" | "created") =>
  Effect.gen(function* () {
    const resources = yield* BuildResources
    const agents = yield* resources.insert({ job_id: jobId, transition: "start" }, [aResource({ agents: [anAgent()] })])
    const sql = yield* Statements
    yield* Effect.forEach(agents, ({ id }) => sql`UPDATE workspace_agents SET lifecycle_state = ${lifecycle} WHERE id = ${id}`)
  })

for (const [name, database] of databases) {
  layer(agentServices(database))(`metrics of prebuilt workspaces on ${name}`, (it) => {
    it.effect("count what became of each preset's workspaces in one statement", () =>
      Effect.gen(function* () {
        const { owner, template } = yield* aTemplate
        const former = yield* storedVersion({ organization_id: template.organization_id, created_by: owner.id, template_id: template.id })
        const old = yield* aPreset(former.id, "pool")
        const active = yield* aPreset(template.active_version_id, "pool")

        const started = yield* aPrebuild(template, active)
        yield* ready(started.build.job_id, "ready")
        const starting = yield* aPrebuild(template, active)
        yield* ready(starting.build.job_id, "created")
        yield* aPrebuild(template, active, owner.id)
        yield* aPrebuild(template, active, keeper, { job: { error: "no disk" } })
        // A user's own workspace with the preset, and one of the former version
        yield* storedWorkspace(template, owner.id, { build: { template_version_preset_id: active } })
        yield* aPrebuild({ ...template, active_version_id: former.id }, old)

        const { presets } = yield* MetricsRepository
        const { statements, value } = yield* statementsOf(presets(10))
        const [first, second] = value.map(({ claimed, created, eligible, failed, is_active, running }) => ({
          is_active,
          made: [created, failed, claimed],
          kept: [running, eligible]
        }))
        expect(first).toStrictEqual({ is_active: true, made: [4, 1, 1], kept: [2, 1] })
        // Workspaces of former versions are on their way out
        expect(second).toStrictEqual({ is_active: false, made: [1, 0, 0], kept: [0, 0] })
        expect((yield* presets(1)).map(({ is_active }) => is_active)).toStrictEqual([true])

        expect(statements).toHaveLength(1)
        const plan = (yield* Effect.forEach(statements, planOf)).join("\n")
        expect(plan).toContain("workspace_builds_of_prebuilds")
        expect(plan).not.toMatch(/Seq Scan on (?:workspaces|workspace_builds|provisioner_jobs)\b|^SCAN [wbj]$/m)
      })
    )
  })
}
