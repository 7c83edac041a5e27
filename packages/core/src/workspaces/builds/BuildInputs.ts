import { Context, Effect, Option } from "effect"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import type { User } from "../../identity/users/User.js"
import { UserRepository } from "../../identity/users/UserRepository.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import type { BuildTransition } from "../../provisioning/jobs/BuildTransition.js"
import type { BuildMetadata, PlanInput, TaskPrompt } from "../../provisioning/engines/ProvisionerEngine.js"
import { OwnerMetadata } from "../../templates/parameters/OwnerMetadata.js"
import type { Template } from "../../templates/Template.js"
import { TemplateRepository } from "../../templates/TemplateRepository.js"
import type { TemplateVersion } from "../../templates/versions/TemplateVersion.js"
import { TemplateVersionRepository } from "../../templates/versions/TemplateVersionRepository.js"
import { BuildCredentials } from "./BuildCredentials.js"
import { BuildStates } from "./BuildStates.js"
import { previousBuild } from "./PreviousBuild.js"
import type { Workspace } from "../Workspace.js"
import type { WorkspaceBuild } from "./WorkspaceBuild.js"
import { WorkspaceBuildRepository } from "./WorkspaceBuildRepository.js"
import { WorkspaceTaskRepository } from "./WorkspaceTaskRepository.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { Conflict, UpstreamFailure } from "../../platform/Errors.js"

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

/** The methods of {@link BuildInputs}. */
export interface BuildInputsService {
  /** The metadata of a plan: the workspace, its owner and the build. */
  readonly metadata: (build: Build) => Effect.Effect<BuildMetadata>

  /**
   * Returns what the engine plans for a build that a worker has acquired. A start opens the session of the workspace's programs; another
   * build ends it. Fails with `Conflict` if no key of the deployment opens the state.
   */
  readonly plan: (
    build: WorkspaceBuild,
    workspace: Workspace,
    prebuilt_workspace_stage: BuildMetadata["prebuilt_workspace_stage"]
  ) => Effect.Effect<PlanInput, Conflict | UpstreamFailure>
}

const make = Effect.gen(function* () {
  const users = yield* UserRepository
  const owners = yield* OwnerMetadata
  const templates = yield* TemplateRepository
  const versions = yield* TemplateVersionRepository
  const builds = yield* WorkspaceBuildRepository
  const states = yield* BuildStates
  const credentials = yield* BuildCredentials
  const tasks = yield* WorkspaceTaskRepository

  const storedTask = ({ task_id }: Pick<Workspace, "task_id">) =>
    task_id === null ? Effect.succeed(undefined) : Effect.map(tasks.prompt(task_id), Option.getOrUndefined)

  const metadata = Traced.fn("BuildInputs.metadata")(function* (build: Build) {
    const { id, owner, template, transition, version, workspace } = build
    const { accessUrl } = yield* DeploymentOptions
    return {
      access_url: accessUrl,
      transition,
      workspace_id: workspace.id,
      workspace_name: workspace.name,
      workspace_build_id: id,
      organization_id: workspace.organization_id,
      ...(yield* owners.of(owner, workspace.organization_id)),
      template_id: template.id,
      template_name: template.name,
      template_version: version.name,
      task: build.task ?? (yield* storedTask(workspace))
    } satisfies BuildMetadata
  })

  return {
    metadata,

    plan: Traced.fn("BuildInputs.plan")(function* (
      build: WorkspaceBuild,
      workspace: Workspace,
      prebuilt_workspace_stage: BuildMetadata["prebuilt_workspace_stage"]
    ) {
      const owner = yield* Effect.flatMap(users.byId(workspace.owner_id), Effect.orDie)
      const template = yield* Effect.flatMap(templates.byId(workspace.template_id), Effect.orDie)
      const version = yield* Effect.flatMap(versions.byId(build.template_version_id), Effect.orDie)
      const previous = yield* previousBuild(builds, build)
      const state = yield* states.of(build.id)
      const { external_auth, metadata: secrets } = yield* credentials.of(build, workspace, owner)
      return {
        metadata: {
          ...(yield* metadata({ ...build, workspace, owner, template, version })),
          ...secrets,
          prebuilt_workspace_stage
        },
        external_auth,
        variables: (yield* versions.variables(version.id)).filter(({ required, value }) => required || value !== ""),
        parameters: yield* builds.parameters(build.id),
        previous_parameters: Option.isNone(previous) ? [] : yield* builds.parameters(previous.value.id),
        state,
        // The latest build alone does not tell: that of an orphaned workspace whose deletion failed has no state either
        unfinished: build.transition === "delete" && state.length === 0 && !(yield* builds.hasOutcome(workspace.id))
      } satisfies PlanInput
    })
  }
})

/** The inputs of engines for builds. */
export class BuildInputs extends Context.Tag("@atelier/core/BuildInputs")<BuildInputs, BuildInputsService>() {
  static readonly layer = standingOn(service(BuildInputs, make), OwnerMetadata.layer, BuildCredentials.layer, BuildStates.layer)
}
