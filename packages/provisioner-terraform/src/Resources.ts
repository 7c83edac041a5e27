/** Resources, and the agents, apps and scripts on them. templates-and-provisioning.md §10.1, §10.2. */
import { Uuid } from "@atelier/core/platform"
import {
  type AgentMetadataDescription,
  ApiKeyScope,
  AppOpenIn,
  DisplayApp,
  type ProvisionedAgent,
  type ProvisionedDevcontainer,
  type ProvisionedMonitor,
  type ProvisionedApp,
  type ProvisionedResource,
  type ProvisionedScript,
  type ResourceMetadata,
  SharingLevel
} from "@atelier/core/provisioning"
import { Either, Option, Schema } from "effect"
import { agentOf, type Attached, byAttribute, type ById, describedBy, isShown, machinesOf, withLabel } from "./Attachment.js"
import { blocks, Count, Flag, type Instance, read, ReadFailure, Text, Texts, withoutNulls } from "./Document.js"

type Reading<A> = Either.Either<A, ReadFailure>

const AgentValues = Schema.Struct({
  os: Text,
  arch: Text,
  dir: Text,
  auth: Text,
  token: Text,
  env: Texts,
  connection_timeout: Count,
  troubleshooting_url: Text,
  motd_file: Text,
  order: Count,
  api_key_scope: Text,
  startup_script: Text,
  startup_script_behavior: Text,
  shutdown_script: Text,
  display_apps: blocks(
    Schema.Struct({ vscode: Flag, vscode_insiders: Flag, ssh_helper: Flag, port_forwarding_helper: Flag, web_terminal: Flag })
  ),
  metadata: blocks(Schema.Struct({ key: Text, display_name: Text, script: Text, interval: Count, timeout: Count, order: Count })),
  resources_monitoring: blocks(
    Schema.Struct({
      memory: blocks(Schema.Struct({ enabled: Flag, threshold: Count })),
      volume: blocks(Schema.Struct({ path: Text, enabled: Flag, threshold: Count }))
    })
  )
})

const AppValues = Schema.Struct({
  id: Text,
  slug: Text,
  display_name: Text,
  command: Text,
  url: Text,
  icon: Text,
  subdomain: Flag,
  external: Flag,
  share: Text,
  healthcheck: blocks(Schema.Struct({ url: Text, interval: Count, threshold: Count })),
  order: Count,
  group: Text,
  hidden: Flag,
  open_in: Text,
  tooltip: Text
})

const ScriptValues = Schema.Struct({
  display_name: Text,
  icon: Text,
  script: Text,
  cron: Text,
  start_blocks_login: Flag,
  run_on_start: Flag,
  run_on_stop: Flag,
  timeout: Count,
  log_path: Text
})

const EnvValues = Schema.Struct({ name: Text, value: Text, merge_strategy: Text })

const MetadataValues = Schema.Struct({
  hide: Flag,
  icon: Text,
  daily_cost: Count,
  /** `is_null` is known after the apply only. */
  item: blocks(Schema.Struct({ key: Text, value: Text, sensitive: Flag, is_null: Flag }))
})

const DevcontainerValues = Schema.Struct({ workspace_folder: Text, config_path: Text })

const AgentInstanceValues = Schema.Struct({ agent_id: Text, instance_id: Text })

/** The attributes of machines that say how their agents prove who they are, and how large the machines are. §10.1. */
const instanceIds: Readonly<Record<string, string>> = {
  google_compute_instance: "instance_id",
  aws_instance: "id",
  aws_spot_instance_request: "spot_instance_id",
  azurerm_linux_virtual_machine: "virtual_machine_id",
  azurerm_windows_virtual_machine: "virtual_machine_id"
}
const instanceTypes: Readonly<Record<string, string>> = {
  google_compute_instance: "machine_type",
  aws_instance: "instance_type",
  aws_spot_instance_request: "instance_type",
  azurerm_linux_virtual_machine: "size",
  azurerm_windows_virtual_machine: "size"
}

const valueAt = ({ type, values }: Instance, attributes: Readonly<Record<string, string>>): string => {
  const attribute = attributes[type]
  const value = attribute === undefined ? undefined : values[attribute]
  return typeof value === "string" ? value : ""
}

const literal = <A>(schema: Schema.Schema<A>, text: string, otherwise: A): A =>
  Option.getOrElse(Schema.decodeUnknownOption(schema)(text), () => otherwise)

const legacyScripts = (agent: typeof AgentValues.Type): ReadonlyArray<ProvisionedScript> => {
  const common = { cron: "", timeout_seconds: 0 }
  const startup: ProvisionedScript = {
    ...common,
    icon: "/emojis/25b6-fe0f.png",
    display_name: "Startup Script",
    script: agent.startup_script,
    run_on_start: true,
    run_on_stop: false,
    start_blocks_login: agent.startup_script_behavior === "blocking",
    log_path: "coder-startup-script.log"
  }
  const shutdown: ProvisionedScript = {
    ...common,
    icon: "/emojis/25c0.png",
    display_name: "Shutdown Script",
    script: agent.shutdown_script,
    run_on_start: false,
    run_on_stop: true,
    start_blocks_login: false,
    log_path: "coder-shutdown-script.log"
  }
  return [startup, shutdown].filter(({ script }) => script !== "")
}

const defaultDisplayApps: ReadonlyArray<DisplayApp> = ["vscode", "ssh_helper", "port_forwarding_helper", "web_terminal"]

const displayApps = ({ display_apps: [chosen] }: typeof AgentValues.Type): ReadonlyArray<DisplayApp> =>
  chosen === undefined ? defaultDisplayApps : DisplayApp.literals.filter((name) => chosen[name])

const appOf = (instance: Instance): Reading<ProvisionedApp> =>
  Either.map(read(AppValues, instance), ({ healthcheck: [healthcheck], id, open_in, share, slug, ...app }) => ({
    ...app,
    id: Option.getOrUndefined(Schema.decodeUnknownOption(Uuid.Uuid)(id)),
    slug,
    display_name: app.display_name || slug,
    sharing_level: literal(SharingLevel, share, "owner"),
    open_in: literal(AppOpenIn, open_in, "slim-window"),
    healthcheck: healthcheck === undefined || healthcheck.url === "" ? null : healthcheck
  }))

const scriptOf = (instance: Instance): Reading<ProvisionedScript> =>
  Either.map(read(ScriptValues, instance), ({ timeout, ...script }) => ({ ...script, timeout_seconds: timeout }))

/** Merges the variables for an agent in the order of their addresses; those of the agent's own block win. */
const environmentOf = (
  own: Readonly<Record<string, string>>,
  variables: ReadonlyArray<Instance>
): Reading<Readonly<Record<string, string>>> =>
  Either.gen(function* () {
    const environment = new Map<string, string>()
    for (const variable of variables) {
      const { merge_strategy, name, value } = yield* read(EnvValues, variable)
      const before = environment.get(name)
      if (before === undefined || merge_strategy === "replace") environment.set(name, value)
      else if (merge_strategy === "append") environment.set(name, `${before}:${value}`)
      else if (merge_strategy === "prepend") environment.set(name, `${value}:${before}`)
      else if (merge_strategy === "error") {
        return yield* Either.left(
          new ReadFailure({
            message: `duplicate env var ${JSON.stringify(name)}: merge_strategy is "error" but variable is already defined`
          })
        )
      } else environment.set(name, value)
    }
    return { ...Object.fromEntries(environment), ...own }
  })

/** The apps, scripts, variables and dev containers of one agent, in the order of their addresses. */
interface Parts {
  readonly apps: Array<Instance>
  readonly scripts: Array<Instance>
  readonly variables: Array<Instance>
  readonly containers: Array<Instance>
}

const partTypes: Readonly<Record<string, keyof Parts>> = {
  coder_app: "apps",
  coder_script: "scripts",
  coder_env: "variables",
  coder_devcontainer: "containers"
}

/** What the agents of a reading share. */
interface Context {
  readonly attached: Attached
  readonly parts: ReadonlyMap<Instance, Parts>
  /** The instance ids that `coder_agent_instance` gives agents. */
  readonly identities: ReadonlyMap<Instance, string>
  readonly token: (address: string) => Uuid.Uuid
}

/** The monitors of an agent; the last of a path counts. */
const monitorsOf = ({ resources_monitoring }: typeof AgentValues.Type): ReadonlyArray<ProvisionedMonitor> => {
  const memory = resources_monitoring.flatMap((monitoring) => monitoring.memory.map((one) => ({ path: "", ...one })))
  const volumes = resources_monitoring.flatMap(({ volume }) => volume.filter(({ path }) => path !== ""))
  return [...new Map([...memory, ...volumes].map((one) => [one.path, one])).values()]
}

const devcontainerOf = (container: Instance, { parts }: Context): Reading<ProvisionedDevcontainer> =>
  Either.gen(function* () {
    const { apps = [], scripts = [], variables = [] } = parts.get(container) ?? {}
    return {
      ...(yield* read(DevcontainerValues, container)),
      name: container.name,
      environment_variables: yield* environmentOf({}, variables),
      apps: yield* Either.all(apps.map(appOf)),
      scripts: yield* Either.all(scripts.map(scriptOf))
    }
  })

const agentOn = (machine: Instance, agent: Instance, context: Context): Reading<ProvisionedAgent> =>
  Either.gen(function* () {
    const values = yield* read(AgentValues, agent)
    const { identities, parts, token } = context
    const { apps = [], containers = [], scripts = [], variables = [] } = parts.get(agent) ?? {}
    const devcontainers = yield* Either.all(containers.map((container) => devcontainerOf(container, context)))
    const monitors = monitorsOf(values)
    const known = Option.getOrElse(Schema.decodeUnknownOption(Uuid.Uuid)(values.token), () => token(agent.address))
    return {
      name: agent.name,
      operating_system: values.os,
      architecture: values.arch,
      directory: values.dir,
      environment_variables: yield* environmentOf(withoutNulls(values.env), variables),
      auth:
        values.auth === "token" || values.auth === ""
          ? { _tag: "Token", token: known }
          : { _tag: "InstanceIdentity", instance_id: identities.get(agent) ?? valueAt(machine, instanceIds) },
      connection_timeout_seconds: values.connection_timeout,
      troubleshooting_url: values.troubleshooting_url,
      motd_file: values.motd_file,
      display_apps: displayApps(values),
      api_key_scope: literal(ApiKeyScope, values.api_key_scope, "all"),
      order: values.order,
      apps: yield* Either.all(apps.map(appOf)),
      scripts: [...legacyScripts(values), ...(yield* Either.all(scripts.map(scriptOf)))],
      metadata: values.metadata satisfies ReadonlyArray<AgentMetadataDescription>,
      ...(monitors.length === 0 ? {} : { monitors }),
      ...(devcontainers.length === 0 ? {} : { devcontainers })
    }
  })

const partsOf = (attached: Attached, labelled: ReturnType<typeof withLabel>, agents: ById): ReadonlyMap<Instance, Parts> => {
  const all = new Map<Instance, Parts>()
  for (const instance of attached.instances) {
    const kind = partTypes[instance.type]
    const agent = kind === undefined || instance.mode === "data" ? undefined : agentOf(attached, labelled, agents, instance)
    if (kind === undefined || agent === undefined) continue
    const parts = all.get(agent) ?? { apps: [], scripts: [], variables: [], containers: [] }
    parts[kind].push(instance)
    all.set(agent, parts)
  }
  return all
}

/** The instance ids of agents: each by the agent's id where it is known, else by what refers to it. */
const identitiesOf = (attached: Attached, labelled: ReturnType<typeof withLabel>, agents: ById): Reading<ReadonlyMap<Instance, string>> =>
  Either.gen(function* () {
    const identities = new Map<Instance, string>()
    for (const instance of attached.instances.filter(({ type }) => type === "coder_agent_instance")) {
      const agent = agentOf(attached, labelled, agents, instance)
      const { instance_id } = yield* read(AgentInstanceValues, instance)
      if (agent !== undefined && instance_id !== "") identities.set(agent, instance_id)
    }
    return identities
  })

type Description = Omit<typeof MetadataValues.Type, "item"> & { readonly item: ReadonlyArray<ResourceMetadata> }

const descriptionsOf = (attached: Attached, labelled: ReturnType<typeof withLabel>): Reading<ReadonlyMap<Instance, Description>> =>
  Either.gen(function* () {
    const resources = byAttribute(attached.instances.filter(isShown), "id")
    const descriptions = new Map<Instance, Description>()
    for (const instance of attached.instances.filter(({ type }) => type === "coder_metadata")) {
      const target = describedBy(attached, labelled, resources, instance)
      if (target === undefined) continue
      if (descriptions.has(target)) {
        return yield* Either.left(new ReadFailure({ message: `duplicate metadata resource: ${target.address}` }))
      }
      const { item, ...description } = yield* read(MetadataValues, instance)
      const shown = item.filter(({ is_null }) => !is_null).map(({ key, sensitive, value }) => ({ key, value, sensitive }))
      descriptions.set(target, { ...description, item: shown })
    }
    return descriptions
  })

const repeated = (names: ReadonlyArray<string>): string | undefined => names.find((name, index) => names.indexOf(name) < index)

/** Clients reach agents and apps by their names. Instances of one block share its name. */
const ambiguity = (
  agents: ReadonlyArray<Instance>,
  containers: ReadonlyArray<Instance>,
  parts: ReadonlyMap<Instance, Parts>
): string | undefined => {
  const blocks = new Map(agents.map((agent) => [agent.label, agent.name.toLowerCase()]))
  const name = repeated([...blocks.values()])
  if (name !== undefined) return `duplicate agent name: ${name}`
  const apps = [...agents, ...containers].flatMap((agent) => parts.get(agent)?.apps ?? [])
  const slug = repeated(apps.flatMap(({ values }) => (typeof values["slug"] === "string" ? [values["slug"]] : [])))
  return slug === undefined ? undefined : `duplicate app slug, they must be unique per template: ${JSON.stringify(slug)}`
}

/** The sum of what all resources cost a day, also of those that are not shown. */
export const dailyCost = ({ instances }: Attached): number =>
  instances
    .filter(({ type }) => type === "coder_metadata")
    .reduce((sum, { values }) => sum + (typeof values["daily_cost"] === "number" ? values["daily_cost"] : 0), 0)

/**
 * Returns the resources in the order of their addresses. `token` gives agents a token whose own is not known yet. Fails if two metadata
 * describe one resource, two agents or apps have one name, or a variable is defined twice and must not be.
 */
export const readResources = (attached: Attached, token: Context["token"]): Reading<ReadonlyArray<ProvisionedResource>> =>
  Either.gen(function* () {
    const managed = attached.instances.filter(({ mode }) => mode === "managed")
    const labelled = withLabel(managed)
    const agents = managed.filter(({ type }) => type === "coder_agent")
    const containers = managed.filter(({ type }) => type === "coder_devcontainer")
    const byId: ById = new Map([...byAttribute(containers, "subagent_id"), ...byAttribute(agents, "id")])
    const context: Context = {
      attached,
      parts: partsOf(attached, labelled, byId),
      identities: yield* identitiesOf(attached, labelled, byId),
      token
    }
    const twice = ambiguity(agents, containers, context.parts)
    if (twice !== undefined) return yield* Either.left(new ReadFailure({ message: twice }))
    const descriptions = yield* descriptionsOf(attached, labelled)
    const agentsOn = new Map<Instance, Array<ProvisionedAgent>>()
    for (const agent of agents) {
      for (const machine of yield* machinesOf(attached, labelled, agent)) {
        const provisioned = yield* agentOn(machine, agent, context)
        agentsOn.set(machine, [...(agentsOn.get(machine) ?? []), provisioned])
      }
    }
    return managed.filter(isShown).map((resource): ProvisionedResource => {
      const { daily_cost = 0, hide = false, icon = "", item = [] } = descriptions.get(resource) ?? {}
      return {
        name: resource.name,
        type: resource.type,
        icon,
        hide,
        daily_cost,
        instance_type: valueAt(resource, instanceTypes),
        module_path: resource.module,
        metadata: item,
        agents: agentsOn.get(resource) ?? []
      }
    })
  })
