/** Engines' results as the daemons' messages, and jobs as engines' inputs. templates-and-provisioning.md §8.3, §9. */
import { type Protobuf, ProvisionerMessages, Timestamp } from "@atelier/agent-protocol"
import { Uuid } from "@atelier/core/platform"
import {
  type BuildMetadata,
  type EngineTiming,
  importMetadata,
  type PlanInput,
  type Preset,
  type ProvisionedAgent,
  type ProvisionedApp,
  type ProvisionedDevcontainer,
  type ProvisionedMonitor,
  type ProvisionedResource,
  type ProvisionerLog,
  type RichParameter
} from "@atelier/core/provisioning"
import { Record, Redacted } from "effect"

type Init<M extends Protobuf.Message<unknown, unknown>> = Protobuf.InitOf<M>
type Acquired = Protobuf.TypeOf<typeof ProvisionerMessages.AcquiredJob>
type Metadata = Protobuf.TypeOf<typeof ProvisionerMessages.Metadata>

const formTypes = {
  error: "FORM_ERROR",
  radio: "RADIO",
  dropdown: "DROPDOWN",
  input: "INPUT",
  textarea: "TEXTAREA",
  slider: "SLIDER",
  checkbox: "CHECKBOX",
  switch: "SWITCH",
  "tag-select": "TAGSELECT",
  "multi-select": "MULTISELECT"
} as const

export const parameterMessage = (parameter: RichParameter): Init<typeof ProvisionerMessages.RichParameter> => ({
  ...parameter,
  form_type: formTypes[parameter.form_type],
  validation_min: parameter.validation_min ?? undefined,
  validation_max: parameter.validation_max ?? undefined
})

export const presetMessage = ({
  desired_prebuild_instances: instances,
  prebuild_policy: policy,
  ...preset
}: Preset): Init<typeof ProvisionerMessages.Preset> => ({
  ...preset,
  ...(instances === null
    ? {}
    : {
        prebuild: {
          instances,
          expiration_policy: { ttl: policy?.ttl_seconds ?? 0 },
          scheduling: { timezone: policy?.timezone ?? "", schedule: policy?.schedule ?? [] }
        }
      })
})

const sharing = { owner: "OWNER", authenticated: "AUTHENTICATED", organization: "AUTHENTICATED", public: "PUBLIC" } as const

const appMessage = ({ healthcheck, id, open_in, sharing_level, ...app }: ProvisionedApp): Init<typeof ProvisionerMessages.App> => ({
  ...app,
  id: id ?? "",
  sharing_level: sharing[sharing_level],
  open_in: open_in === "tab" ? "TAB" : "SLIM_WINDOW",
  ...(healthcheck === null ? {} : { healthcheck })
})

const displayApps = ["vscode", "vscode_insiders", "web_terminal", "ssh_helper", "port_forwarding_helper"] as const

const devcontainerMessage = ({
  apps,
  environment_variables,
  ...container
}: ProvisionedDevcontainer): Init<typeof ProvisionerMessages.Devcontainer> => ({
  ...container,
  apps: apps.map(appMessage),
  envs: Object.entries(environment_variables).map(([name, value]) => ({ name, value }))
})

const monitoringMessage = (monitors: ReadonlyArray<ProvisionedMonitor>): Init<typeof ProvisionerMessages.ResourcesMonitoring> => ({
  memory: monitors.find(({ path }) => path === ""),
  volumes: monitors.filter(({ path }) => path !== "")
})

const agentMessage = ({
  apps,
  auth,
  devcontainers = [],
  display_apps,
  environment_variables,
  monitors = [],
  ...agent
}: ProvisionedAgent): Init<typeof ProvisionerMessages.Agent> => ({
  ...agent,
  env: new Map(Object.entries(environment_variables)),
  auth: auth._tag === "Token" ? { case: "token", value: auth.token } : { case: "instance_id", value: auth.instance_id },
  display_apps: Object.fromEntries(displayApps.map((app) => [app, display_apps.includes(app)])),
  apps: apps.map(appMessage),
  devcontainers: devcontainers.map(devcontainerMessage),
  ...(monitors.length === 0 ? {} : { resources_monitoring: monitoringMessage(monitors) })
})

export const resourceMessage = ({ agents, ...resource }: ProvisionedResource): Init<typeof ProvisionerMessages.Resource> => ({
  ...resource,
  agents: agents.map(agentMessage)
})

export const timingMessage = ({ ended_at, started_at, ...part }: EngineTiming): Init<typeof ProvisionerMessages.Timing> => ({
  ...part,
  start: Timestamp.fromMillis(started_at),
  end: Timestamp.fromMillis(ended_at),
  state: "COMPLETED"
})

const levels = { trace: "TRACE", debug: "DEBUG", info: "INFO", warn: "WARN", error: "ERROR" } as const

export const logMessage = (log: ProvisionerLog, at: number): Init<typeof ProvisionerMessages.Log> => ({
  source: log.source === "provisioner" ? "PROVISIONER" : "PROVISIONER_DAEMON",
  level: levels[log.level],
  stage: log.stage,
  output: log.output,
  created_at: at
})

const transitions: Readonly<Record<string, BuildMetadata["transition"]>> = { START: "start", STOP: "stop", DESTROY: "delete" }

const idOf = (text: string): Uuid.Uuid => Uuid.parse(text) ?? Uuid.nil

const stageOf = (stage: Metadata["prebuilt_workspace_build_stage"]): BuildMetadata["prebuilt_workspace_stage"] => {
  if (stage === "CREATE") return "create"
  return stage === "CLAIM" ? "claim" : undefined
}

const metadataOf = (metadata: Metadata, accessUrl: string): BuildMetadata => {
  const taskId = Uuid.parse(metadata.task_id)
  const secrets = {
    owner_session_token: metadata.workspace_owner_session_token,
    owner_ssh_private_key: metadata.workspace_owner_ssh_private_key,
    owner_oidc_access_token: metadata.workspace_owner_oidc_access_token
  }
  return {
    access_url: metadata.coder_url || accessUrl,
    transition: transitions[String(metadata.workspace_transition)] ?? "start",
    workspace_id: idOf(metadata.workspace_id),
    workspace_name: metadata.workspace_name,
    workspace_build_id: idOf(metadata.workspace_build_id),
    owner_id: idOf(metadata.workspace_owner_id),
    owner_username: metadata.workspace_owner,
    owner_name: metadata.workspace_owner_name,
    owner_email: metadata.workspace_owner_email,
    owner_login_type: metadata.workspace_owner_login_type,
    owner_groups: metadata.workspace_owner_groups,
    owner_rbac_roles: metadata.workspace_owner_rbac_roles,
    owner_ssh_public_key: metadata.workspace_owner_ssh_public_key,
    template_id: idOf(metadata.template_id),
    template_name: metadata.template_name,
    template_version: metadata.template_version,
    ...(taskId === undefined ? {} : { task: { id: taskId, prompt: metadata.task_prompt } }),
    ...Record.map(
      Record.filter(secrets, (secret) => secret !== ""),
      (secret) => Redacted.make(secret)
    ),
    prebuilt_workspace_stage: stageOf(metadata.prebuilt_workspace_build_stage)
  }
}

const noState = new Uint8Array(0)

/**
 * The input of a job's plan; undefined if the job says nothing about its workspace. That of an import holds the values of its variables.
 * `accessUrl` is the server's as the daemon knows it.
 */
export const inputOf = (
  type: NonNullable<Acquired["type"]>,
  accessUrl: string,
  importVariables: PlanInput["variables"] = []
): PlanInput | undefined => {
  switch (type.case) {
    case "workspace_build": {
      const { external_auth_providers, metadata, previous_parameter_values, rich_parameter_values, state, ...build } = type.value
      const { unfinished, variable_values, workspace_build_id, workspace_name } = build
      if (metadata === undefined) return undefined
      return {
        metadata: { ...metadataOf(metadata, accessUrl), workspace_build_id: idOf(workspace_build_id), workspace_name },
        external_auth: external_auth_providers.map(({ access_token, id }) => ({ id, access_token: Redacted.make(access_token) })),
        variables: variable_values,
        parameters: rich_parameter_values,
        previous_parameters: previous_parameter_values,
        state,
        unfinished
      }
    }
    case "template_dry_run":
      if (type.value.metadata === undefined) return undefined
      return {
        metadata: { ...metadataOf(type.value.metadata, accessUrl), transition: "start" },
        variables: type.value.variable_values,
        parameters: type.value.rich_parameter_values,
        previous_parameters: [],
        state: noState
      }
    case "template_import":
      return {
        metadata: importMetadata({
          access_url: accessUrl,
          transition: "start",
          template_id: idOf(type.value.metadata?.template_id ?? ""),
          template_version: ""
        }),
        variables: importVariables,
        parameters: [],
        previous_parameters: [],
        state: noState
      }
  }
}
