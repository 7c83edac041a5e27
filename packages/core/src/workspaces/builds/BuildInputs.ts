import { Context, Effect, Option, type Redacted } from "effect"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import type { User } from "../../identity/users/User.js"
import { UserRepository } from "../../identity/users/UserRepository.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import type { BuildTransition } from "../../provisioning/jobs/BuildTransition.js"
import type { BuildMetadata, PlanInput, TaskPrompt, ExternalAuthToken } from "../../provisioning/engines/ProvisionerEngine.js"
import { OwnerMetadata } from "../../templates/parameters/OwnerMetadata.js"
import type { Template } from "../../templates/Template.js"
import { TemplateRepository } from "../../templates/TemplateRepository.js"
import type { TemplateVersion } from "../../templates/versions/TemplateVersion.js"
import { TemplateVersionRepository } from "../../templates/versions/TemplateVersionRepository.js"
import { BuildCredentials } from "./BuildCredentials.js"
import { BuildStates } from "./BuildStates.js"
import type { Workspace } from "../Workspace.js"
import type { WorkspaceBuild } from "./WorkspaceBuild.js"
import { WorkspaceBuildRepository } from "./WorkspaceBuildRepository.js"
import { WorkspaceTaskRepository } from "./WorkspaceTaskRepository.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { TemplateVersionVariable } from "../../templates/versions/TemplateVersionDefinitions.js"
import type { ParameterValue } from "../../provisioning/engines/SourceDefinitions.js"
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
  readonly metadata: (build: Build) => Effect.Effect<{
    readonly template_id: Uuid
    readonly template_name: string
    readonly template_version: string
    readonly task: TaskPrompt | undefined
    readonly owner_id: Uuid
    readonly owner_username: string
    readonly owner_name: string
    readonly owner_email: string
    readonly owner_login_type: "" | "none" | "github" | "oidc" | "password" | "token"
    readonly owner_groups: ReadonlyArray<string>
    readonly owner_rbac_roles: { readonly name: string; readonly org_id: string }[]
    readonly owner_ssh_public_key: string
    readonly access_url: string
    readonly transition: "delete" | "start" | "stop"
    readonly workspace_id: Uuid
    readonly workspace_name: string
    readonly workspace_build_id: Uuid
  }>

  /**
   * Returns what the engine plans for a build that a worker has acquired. A start opens the session of the workspace's programs; another
   * build ends it. Fails with `Conflict` if no key of the deployment opens the state.
   */
  readonly plan: (
    build: WorkspaceBuild,
    workspace: Workspace,
    prebuilt_workspace_stage: BuildMetadata["prebuilt_workspace_stage"]
  ) => Effect.Effect<
    {
      readonly metadata:
        | {
            readonly prebuilt_workspace_stage: "create" | "claim" | undefined
            readonly owner_session_token?: never
            readonly owner_ssh_private_key?: never
            readonly owner_oidc_access_token?: never
            readonly template_id: Uuid
            readonly template_name: string
            readonly template_version: string
            readonly task: TaskPrompt | undefined
            readonly owner_id: Uuid
            readonly owner_username: string
            readonly owner_name: string
            readonly owner_email: string
            readonly owner_login_type: "" | "none" | "github" | "oidc" | "password" | "token"
            readonly owner_groups: ReadonlyArray<string>
            readonly owner_rbac_roles: { readonly name: string; readonly org_id: string }[]
            readonly owner_ssh_public_key: string
            readonly access_url: string
            readonly transition: "delete" | "start" | "stop"
            readonly workspace_id: Uuid
            readonly workspace_name: string
            readonly workspace_build_id: Uuid
          }
        | {
            readonly prebuilt_workspace_stage: "create" | "claim" | undefined
            readonly owner_session_token: Redacted.Redacted<string> | undefined
            readonly owner_ssh_private_key: Redacted.Redacted<string> | undefined
            readonly owner_oidc_access_token: Redacted.Redacted<string> | undefined
            readonly template_id: Uuid
            readonly template_name: string
            readonly template_version: string
            readonly task: TaskPrompt | undefined
            readonly owner_id: Uuid
            readonly owner_username: string
            readonly owner_name: string
            readonly owner_email: string
            readonly owner_login_type: "" | "none" | "github" | "oidc" | "password" | "token"
            readonly owner_groups: ReadonlyArray<string>
            readonly owner_rbac_roles: { readonly name: string; readonly org_id: string }[]
            readonly owner_ssh_public_key: string
            readonly access_url: string
            readonly transition: "delete" | "start" | "stop"
            readonly workspace_id: Uuid
            readonly workspace_name: string
            readonly workspace_build_id: Uuid
          }
      readonly external_auth: ReadonlyArray<never> | ReadonlyArray<ExternalAuthToken>
      readonly variables: ReadonlyArray<TemplateVersionVariable>
      readonly parameters: ReadonlyArray<ParameterValue>
      readonly previous_parameters: ReadonlyArray<ParameterValue>
      readonly state: Uint8Array<ArrayBufferLike>
      readonly unfinished: boolean
    },
    Conflict | UpstreamFailure
  >
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
      const previous = yield* builds.byNumber(workspace.id, build.build_number - 1)
      const state = yield* states.of(build.id)
      const before = Option.isNone(previous) ? state : yield* states.of(previous.value.id)
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
        unfinished: build.transition === "delete" && state.length === 0 && before.length === 0
      } satisfies PlanInput
    })
  }
})

/** The inputs of engines for builds. */
export class BuildInputs extends Context.Tag("@atelier/core/BuildInputs")<BuildInputs, BuildInputsService>() {
  static readonly layer = standingOn(service(BuildInputs, make), OwnerMetadata.layer, BuildCredentials.layer, BuildStates.layer)
}
