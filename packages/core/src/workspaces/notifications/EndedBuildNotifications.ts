import { Effect, Option } from "effect"
import { notificationEvents } from "../../notifications/NotificationEvents.js"
import type { Notifications } from "../../notifications/Notifications.js"
import * as Measure from "../../platform/Measure.js"
import { countChange } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { jobStatus } from "../../provisioning/jobs/ProvisionerJob.js"
import type { ResourceReplacement } from "../../provisioning/engines/ProvisionerEngine.js"
import type { TemplateRepository } from "../../templates/TemplateRepository.js"
import type { TemplateVersionRepository } from "../../templates/versions/TemplateVersionRepository.js"
import type { Workspace } from "../Workspace.js"
import type { WorkspaceBuild } from "../builds/WorkspaceBuild.js"
import type { WorkspaceBuildRepository } from "../builds/WorkspaceBuildRepository.js"
import { type Subject, bySchedule, targetsOf, templateAdministrator } from "./WorkspaceSubject.js"

/** Replaced resources that a message names. */
const shownReplacements = 100

const replaced = Measure.counter(
  "prebuilt_workspaces_resource_replacements_total",
  "Claims of prebuilt workspaces that replaced resources.",
  ["template_name", "preset_name", "organization_name"]
)

interface Needs {
  readonly notifications: Notifications["Type"]
  readonly usernameOf: (id: Uuid) => Effect.Effect<string>
  readonly builds: WorkspaceBuildRepository["Type"]
  readonly templates: TemplateRepository["Type"]
  readonly versions: TemplateVersionRepository["Type"]
}

/** What owners and administrators hear of a build when it has ended. */
export const endedBuildNotifications = ({ notifications, usernameOf, builds, templates, versions }: Needs) => ({
  deleted: (workspace: Subject & Pick<Workspace, "expires_at">, build: WorkspaceBuild) =>
    Effect.gen(function* () {
      if (build.reason === "initiator" && build.initiator_id === workspace.owner_id) return
      const isAutomatic = build.reason === "autodelete"
      const isExpired = workspace.expires_at !== null && workspace.expires_at <= build.created_at
      const cause = isExpired ? "autodeleted at the end of its time" : "autodeleted due to dormancy"
      yield* notifications.raise(notificationEvents.workspaceDeleted, {
        to: { users: [workspace.owner_id] },
        labels: {
          name: workspace.name,
          reason: build.reason === "initiator" ? "initiated by user" : isAutomatic ? cause : build.reason,
          initiator: isAutomatic ? bySchedule : yield* usernameOf(build.initiator_id)
        },
        targets: targetsOf(workspace),
        created_by: "provisionerdserver"
      })
    }),

  buildEnded: (workspace: Subject, { build_number, id, initiator_id, reason }: WorkspaceBuild) =>
    Effect.gen(function* () {
      const build = Option.getOrUndefined(yield* builds.byId(id))
      if (build === undefined || jobStatus(build.job) !== "failed") return
      const raised = { targets: targetsOf(workspace), created_by: "provisionerdserver" }
      if (reason !== "initiator") {
        const labels = { name: workspace.name, reason }
        return yield* notifications.raise(notificationEvents.workspaceAutobuildFailed, {
          ...raised,
          to: { users: [workspace.owner_id] },
          labels
        })
      }
      const template = Option.getOrUndefined(yield* templates.byId(workspace.template_id))
      yield* notifications.raise(notificationEvents.workspaceManualBuildFailed, {
        ...raised,
        to: { roles: [templateAdministrator], members_of: workspace.organization_id },
        labels: {
          name: workspace.name,
          template_name: template?.display_name || template?.name || "",
          template_version_name: build.template_version_name,
          initiator: yield* usernameOf(initiator_id),
          workspace_owner_username: yield* usernameOf(workspace.owner_id),
          workspace_build_number: String(build_number)
        }
      })
    }),

  resourcesReplaced: (workspace: Subject, build: WorkspaceBuild, replacements: ReadonlyArray<ResourceReplacement>) =>
    Effect.gen(function* () {
      const template = Option.getOrUndefined(yield* templates.byId(workspace.template_id))
      const version = Option.getOrUndefined(yield* versions.byId(build.template_version_id))
      if (template === undefined || version === undefined) return
      const { template_version_preset_id: presetId } = build
      const preset = presetId === null ? undefined : Option.getOrUndefined(yield* versions.presetById(presetId))
      yield* countChange(replaced(template.name, preset?.name ?? "", template.organization_name))
      const shown = replacements.slice(0, shownReplacements).map(({ paths, resource }) => ({ resource, paths: paths.join(", ") }))
      yield* notifications.raise(notificationEvents.prebuiltResourceReplaced, {
        to: { roles: [templateAdministrator], members_of: workspace.organization_id },
        labels: {
          org: template.organization_name,
          workspace: workspace.name,
          template: template.name,
          template_version: version.name,
          preset: preset?.name ?? "",
          workspace_build_num: String(build.build_number),
          claimant: yield* usernameOf(workspace.owner_id)
        },
        data: { replacements: Object.fromEntries(shown.map(({ paths, resource }) => [resource, paths])), shown },
        targets: [
          workspace.id,
          workspace.owner_id,
          workspace.template_id,
          version.id,
          ...(presetId === null ? [] : [presetId]),
          workspace.organization_id
        ],
        created_by: "provisionerdserver"
      })
    })
})
