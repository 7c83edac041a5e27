import { Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Conflict, Invalid } from "../../platform/Errors.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { TemplateVersionRepository } from "../../templates/versions/TemplateVersionRepository.js"
import type { WorkspaceDetails } from "../WorkspaceRepository.js"
import type { NewBuild, NewFollowUp } from "./WorkspaceBuildCreation.js"

/** Checks that the parts of the request fit together. Rules 2 and 3. */
export const requireConsistent = ({ orphan, state, transition }: NewBuild, workspace: WorkspaceDetails) =>
  Effect.gen(function* () {
    if (workspace.deleted && transition !== "delete") return yield* new Conflict({ message: "The workspace has been deleted." })
    if (orphan && transition !== "delete") return yield* Invalid.field("orphan", "only a delete leaves resources behind")
    if (orphan && state !== undefined) return yield* Invalid.field("orphan", "cannot be given together with state")
  })

/** Only a start follows, and only a stop: it takes the version that is active then, or one that is chosen now. */
export const requireFollowable = ({ dry_run = false, on_success, orphan, state, transition }: NewBuild) => {
  if (on_success === undefined) return Effect.void
  const { template_version_id, template_version_preset_id } = on_success
  // Called by its own name alone, as the reference's clients expect
  if (on_success.transition !== "start") return Invalid.field("transition", "can only be a start after a stop")
  if (transition !== "stop") return Invalid.field("on_success", "can only follow a stop")
  if (dry_run || orphan || state !== undefined) {
    return Invalid.field("on_success", "cannot be given together with dry_run, orphan or state")
  }
  if (template_version_preset_id === undefined || template_version_id !== undefined) return Effect.void
  return Invalid.field("on_success.template_version_preset_id", "needs the template version it belongs to")
}

/** Debug output shows secrets of the template. Rule 6. */
export const requireDebugging = Effect.gen(function* () {
  const { enableTerraformDebugMode } = yield* DeploymentOptions
  if (!(yield* Access.can("read", AccessObjects.bare("deployment_config")))) {
    return yield* Invalid.field("log_level", "is for administrators of the deployment")
  }
  if (!enableTerraformDebugMode) return yield* Invalid.field("log_level", "is not allowed by the deployment")
})

interface Needs {
  readonly versions: TemplateVersionRepository["Type"]
}

/** What a request for a build may ask for. */
export const buildRequestRules = ({ versions }: Needs) => {
  /** Refuses a version or preset of another template now, while the caller is there to be told. */
  const requireChoices = ({ template_version_id: id, template_version_preset_id: presetId }: NewFollowUp, templateId: Uuid) =>
    Effect.gen(function* () {
      if (id === undefined) return
      const version = Option.getOrUndefined(yield* versions.byId(id))
      if (version?.template_id !== templateId) {
        return yield* Invalid.field("on_success.template_version_id", "is not a version of the workspace's template")
      }
      if (presetId !== undefined && !(yield* versions.presets(id)).some((preset) => preset.id === presetId)) {
        return yield* Invalid.field("on_success.template_version_preset_id", "is not a preset of the template version")
      }
    })

  return { requireChoices }
}
