import { Context, Effect, Layer, Option } from "effect"
import { DeploymentOptions } from "../deployment/DeploymentOptions.js"
import type { User } from "../identity/users/User.js"
import type { Uuid } from "../platform/Uuid.js"
import { standingOn } from "../platform/Standing.js"
import type { BuildTransition } from "../provisioning/BuildTransition.js"
import type { BuildMetadata, TaskPrompt } from "../provisioning/ProvisionerEngine.js"
import { OwnerMetadata } from "../templates/OwnerMetadata.js"
import type { Template } from "../templates/Template.js"
import type { TemplateVersion } from "../templates/TemplateVersion.js"
import type { Workspace } from "./Workspace.js"
import { WorkspaceTaskRepository } from "./WorkspaceTaskRepository.js"

interface Build {
  readonly id: Uuid
  readonly transition: BuildTransition
  readonly workspace: Pick<Workspace, "id" | "name" | "organization_id" | "task_id">
  readonly owner: User
  readonly template: Pick<Template, "id" | "name">
  readonly version: Pick<TemplateVersion, "name">
  /** The stored task of the workspace unless given: a task is stored with its workspace, after its first build was prepared. */
  readonly task?: TaskPrompt | undefined
}

const make = Effect.gen(function* () {
  const owners = yield* OwnerMetadata
  const tasks = yield* WorkspaceTaskRepository

  const storedTask = ({ task_id }: Pick<Workspace, "task_id">) =>
    task_id === null ? Effect.succeed(undefined) : Effect.map(tasks.prompt(task_id), Option.getOrUndefined)

  return {
    /** The metadata of a plan: the workspace, its owner and the build. */
    metadata: Effect.fn("BuildInputs.metadata")(function* (build: Build) {
      const { id, owner, template, transition, version, workspace } = build
      const { accessUrl } = yield* DeploymentOptions
      return {
        access_url: accessUrl,
        transition,
        workspace_id: workspace.id,
        workspace_name: workspace.name,
        workspace_build_id: id,
        ...(yield* owners.of(owner, workspace.organization_id)),
        template_id: template.id,
        template_name: template.name,
        template_version: version.name,
        task: build.task ?? (yield* storedTask(workspace))
      } satisfies BuildMetadata
    })
  }
})

/** The inputs of engines for builds. */
export class BuildInputs extends Context.Tag("@atelier/core/BuildInputs")<BuildInputs, Effect.Effect.Success<typeof make>>() {
  static readonly layer = standingOn(Layer.effect(BuildInputs, make), OwnerMetadata.layer)
}
