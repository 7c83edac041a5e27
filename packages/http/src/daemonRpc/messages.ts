/** The daemons' messages as engines' results, and back. templates-and-provisioning.md §8.3, §10.2. */
import { type Protobuf, ProvisionerMessages, Timestamp as WireTimestamp } from "@atelier/agent-protocol"
import { Ids, Uuid } from "@atelier/core/platform"
import {
  type BuildMetadata,
  type DisplayApp,
  type EngineTiming,
  type FormType,
  JobTiming,
  type ParameterType,
  type Preset,
  type ProvisionedAgent,
  type ProvisionedDevcontainer,
  type ProvisionedMonitor,
  type ProvisionedApp,
  type ProvisionedResource,
  type ProvisionerLog,
  type RichParameter
} from "@atelier/core/provisioning"
import { Effect, Redacted, Schema } from "effect"

/** Of a build: a plan with more parts keeps its first ones. */
const maximumTimings = 10_000

/** The last instant that the store can hold, in milliseconds: the end of the year 9999. */
const latestTime = Date.UTC(10_000, 0) - 1

const formTypes: Readonly<Record<string, FormType>> = {
  FORM_ERROR: "error",
  RADIO: "radio",
  DROPDOWN: "dropdown",
  INPUT: "input",
  TEXTAREA: "textarea",
  SLIDER: "slider",
  CHECKBOX: "checkbox",
  SWITCH: "switch",
  TAGSELECT: "tag-select",
  MULTISELECT: "multi-select"
}

const parameterTypes: ReadonlySet<string> = new Set(["string", "number", "bool", "list(string)"])
const isParameterType = (type: string): type is ParameterType => parameterTypes.has(type)

/** The first form type of a parameter's type: without and with options. §4.2. */
const defaultForms: Readonly<Record<ParameterType, readonly [FormType, FormType]>> = {
  string: ["input", "radio"],
  number: ["input", "radio"],
  bool: ["checkbox", "radio"],
  "list(string)": ["tag-select", "radio"]
}

export const parameterOf = (message: ProvisionerMessages.RichParameter): RichParameter => {
  const type = isParameterType(message.type) ? message.type : "string"
  const monotonic = message.validation_monotonic
  return {
    name: message.name,
    display_name: message.display_name,
    description: message.description,
    type,
    form_type: formTypes[message.form_type] ?? defaultForms[type][message.options.length > 0 ? 1 : 0],
    mutable: message.mutable,
    ephemeral: message.ephemeral,
    required: message.required,
    default_value: message.default_value,
    icon: message.icon,
    options: message.options,
    validation_regex: message.validation_regex,
    validation_error: message.validation_error,
    validation_min: message.validation_min ?? null,
    validation_max: message.validation_max ?? null,
    validation_monotonic: monotonic === "increasing" || monotonic === "decreasing" ? monotonic : "",
    order: message.order
  }
}

export const presetOf = ({ default: isDefault, description, icon, name, parameters, prebuild }: ProvisionerMessages.Preset): Preset => ({
  name,
  description,
  icon,
  default: isDefault,
  parameters,
  desired_prebuild_instances: prebuild?.instances ?? null,
  prebuild_policy: {
    ttl_seconds: prebuild?.expiration_policy?.ttl ?? 0,
    timezone: prebuild?.scheduling?.timezone ?? "",
    schedule: prebuild?.scheduling?.schedule ?? []
  }
})

const appOf = (app: ProvisionerMessages.App): ProvisionedApp => {
  const id = Uuid.parse(app.id)
  const sharing = { AUTHENTICATED: "authenticated", PUBLIC: "public" } as const
  const { healthcheck } = app
  return {
    ...(id === undefined || id === Uuid.nil ? {} : { id }),
    slug: app.slug,
    display_name: app.display_name,
    command: app.command,
    url: app.url,
    icon: app.icon,
    subdomain: app.subdomain,
    external: app.external,
    sharing_level: app.sharing_level === "AUTHENTICATED" || app.sharing_level === "PUBLIC" ? sharing[app.sharing_level] : "owner",
    healthcheck: healthcheck === undefined || healthcheck.url === "" ? null : healthcheck,
    order: app.order,
    group: app.group,
    hidden: app.hidden,
    open_in: app.open_in === "TAB" ? "tab" : "slim-window",
    tooltip: app.tooltip
  }
}

const displayAppsOf = (shown: ProvisionerMessages.Agent["display_apps"]): ReadonlyArray<DisplayApp> => {
  const all = ["vscode", "vscode_insiders", "ssh_helper", "port_forwarding_helper", "web_terminal"] as const
  return shown === undefined ? all.filter((app) => app !== "vscode_insiders") : all.filter((app) => shown[app])
}

/** Environments in their order, and over them the agent's own. */
const environmentOf = (
  own: ProvisionerMessages.Agent["env"],
  more: ProvisionerMessages.Agent["extra_envs"]
): Readonly<Record<string, string>> => {
  const merged = new Map<string, string>()
  for (const { merge_strategy, name, value } of more) {
    const before = merged.get(name)
    if (before === undefined || merge_strategy === "" || merge_strategy === "replace") merged.set(name, value)
    else if (merge_strategy === "append") merged.set(name, `${before}:${value}`)
    else if (merge_strategy === "prepend") merged.set(name, `${value}:${before}`)
  }
  for (const [name, value] of own) merged.set(name, value)
  return Object.fromEntries(merged)
}

/** The monitors of an agent; the last of a path counts. */
const monitorsOf = ({ resources_monitoring: monitoring }: ProvisionerMessages.Agent): ReadonlyArray<ProvisionedMonitor> => {
  const memory = monitoring?.memory === undefined ? [] : [{ path: "", ...monitoring.memory }]
  const volumes = (monitoring?.volumes ?? []).filter(({ path }) => path !== "")
  return [...new Map([...memory, ...volumes].map((one) => [one.path, one])).values()]
}

const devcontainerOf = (container: ProvisionerMessages.Devcontainer): ProvisionedDevcontainer => ({
  name: container.name,
  workspace_folder: container.workspace_folder,
  config_path: container.config_path,
  environment_variables: environmentOf(new Map(), container.envs),
  apps: container.apps.map(appOf),
  scripts: container.scripts
})

const agentOf = (agent: ProvisionerMessages.Agent): Effect.Effect<ProvisionedAgent, never, Ids> =>
  Effect.gen(function* () {
    const token = agent.auth?.case === "token" ? Uuid.parse(agent.auth.value) : undefined
    return {
      name: agent.name,
      operating_system: agent.operating_system,
      architecture: agent.architecture,
      directory: agent.directory,
      environment_variables: environmentOf(agent.env, agent.extra_envs),
      auth:
        agent.auth?.case === "instance_id"
          ? { _tag: "InstanceIdentity", instance_id: agent.auth.value }
          : { _tag: "Token", token: token ?? (yield* (yield* Ids).secret) },
      connection_timeout_seconds: agent.connection_timeout_seconds,
      troubleshooting_url: agent.troubleshooting_url,
      motd_file: agent.motd_file,
      display_apps: displayAppsOf(agent.display_apps),
      api_key_scope: agent.api_key_scope === "no_user_data" ? "no_user_data" : "all",
      order: agent.order,
      apps: agent.apps.map(appOf),
      scripts: agent.scripts,
      metadata: agent.metadata,
      monitors: monitorsOf(agent),
      devcontainers: agent.devcontainers.map(devcontainerOf)
    } satisfies ProvisionedAgent
  })

/** `isPlan`: values that are not known yet are listed as empty. templates-and-provisioning.md §3.4. */
export const resourcesOf = (
  messages: ReadonlyArray<ProvisionerMessages.Resource>,
  isPlan: boolean
): Effect.Effect<ReadonlyArray<ProvisionedResource>, never, Ids> =>
  Effect.forEach(messages, ({ agents, metadata, ...resource }) =>
    Effect.map(Effect.forEach(agents, agentOf), (made) => ({
      ...resource,
      metadata: metadata.filter(({ is_null }) => isPlan || !is_null).map(({ key, sensitive, value }) => ({ key, value, sensitive })),
      agents: made
    }))
  )

const isStage = Schema.is(JobTiming.fields.stage)

/** How long parts of a build took. What names no stage of a build, or ends before it begins, is passed over. templates-and-provisioning.md §6.9. */
export const timingsOf = (messages: ReadonlyArray<ProvisionerMessages.Timing>): ReadonlyArray<EngineTiming> =>
  messages.slice(0, maximumTimings).flatMap(({ action, end, resource, source, stage, start }) => {
    if (!isStage(stage) || start === undefined || end === undefined) return []
    const [started_at, ended_at] = [WireTimestamp.toMillis(start), WireTimestamp.toMillis(end)].map(Math.trunc)
    if (started_at === undefined || ended_at === undefined || started_at < 0 || ended_at < started_at || ended_at > latestTime) return []
    return [{ stage, source, action, resource, started_at, ended_at }]
  })

const levels = { TRACE: "trace", DEBUG: "debug", INFO: "info", WARN: "warn", ERROR: "error" } as const

export const logOf = ({ level, output, source, stage }: ProvisionerMessages.Log): ProvisionerLog => ({
  source: source === "PROVISIONER" ? "provisioner" : "provisioner_daemon",
  level: typeof level === "string" ? levels[level] : "info",
  stage,
  output
})

const transitions = { start: "START", stop: "STOP", delete: "DESTROY" } as const
const stages = { create: "CREATE", claim: "CLAIM" } as const

const textOf = (secret: Redacted.Redacted<string> | undefined): string => (secret === undefined ? "" : Redacted.value(secret))

export const metadataMessage = (metadata: BuildMetadata): Protobuf.InitOf<typeof ProvisionerMessages.Metadata> => ({
  coder_url: metadata.access_url,
  workspace_transition: transitions[metadata.transition],
  workspace_name: metadata.workspace_name,
  workspace_owner: metadata.owner_username,
  workspace_id: metadata.workspace_id,
  workspace_owner_id: metadata.owner_id,
  workspace_owner_email: metadata.owner_email,
  workspace_owner_name: metadata.owner_name,
  workspace_owner_groups: metadata.owner_groups,
  workspace_owner_ssh_public_key: metadata.owner_ssh_public_key,
  workspace_owner_login_type: metadata.owner_login_type,
  workspace_owner_ssh_private_key: textOf(metadata.owner_ssh_private_key),
  workspace_owner_rbac_roles: metadata.owner_rbac_roles ?? [],
  workspace_owner_oidc_access_token: textOf(metadata.owner_oidc_access_token),
  workspace_owner_session_token: textOf(metadata.owner_session_token),
  workspace_build_id: metadata.workspace_build_id,
  template_id: metadata.template_id,
  template_name: metadata.template_name,
  template_version: metadata.template_version,
  task_id: metadata.task?.id ?? "",
  task_prompt: metadata.task?.prompt ?? "",
  prebuilt_workspace_build_stage: metadata.prebuilt_workspace_stage === undefined ? "NONE" : stages[metadata.prebuilt_workspace_stage]
})
