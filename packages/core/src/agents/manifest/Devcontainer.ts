/** Dev containers that templates give their agents. templates-and-provisioning.md §10.2. */
import type { Uuid } from "../../platform/texts/Uuid.js"
import type {
  ProvisionedAgent,
  ProvisionedDevcontainer,
  ProvisionedResource,
  ProvisionedScript
} from "../../provisioning/engines/ProvisionedResource.js"

/** A dev container as its agent sees it. */
export interface TemplateDevcontainer {
  readonly id: Uuid
  readonly name: string
  readonly workspace_folder: string
  readonly config_path: string
  /** The agent inside it; null where the agent beside it makes one. */
  readonly subagent_id: Uuid | null
}

/** The part of an agent's log that the dev container writes, as a script that runs at no time. */
export const devcontainerScript = ({ name }: ProvisionedDevcontainer): ProvisionedScript => ({
  display_name: `Dev Container (${name})`,
  icon: "/emojis/1f4e6.png",
  script: "",
  cron: "",
  start_blocks_login: false,
  run_on_start: false,
  run_on_stop: false,
  timeout_seconds: 0,
  log_path: ""
})

/** The agent inside a dev container, on the machine of the agent beside it; undefined where the template has nothing for it. */
export const containedAgent = (
  parent: Omit<ProvisionedAgent, "auth">,
  { apps, environment_variables, name, scripts, workspace_folder }: ProvisionedDevcontainer
): Omit<ProvisionedAgent, "auth"> | undefined =>
  apps.length === 0 && scripts.length === 0 && Object.keys(environment_variables).length === 0
    ? undefined
    : {
        // Names of blocks have underscores, those of agents have none
        name: name.replace(/_+/g, "-").replace(/^-|-$/g, ""),
        operating_system: parent.operating_system,
        architecture: parent.architecture,
        directory: workspace_folder,
        environment_variables,
        connection_timeout_seconds: parent.connection_timeout_seconds,
        troubleshooting_url: parent.troubleshooting_url,
        motd_file: "",
        display_apps: [],
        api_key_scope: parent.api_key_scope,
        order: 0,
        apps,
        scripts,
        metadata: []
      }

/** All agents of a resource, those inside dev containers too. */
export const allAgents = ({ agents }: Pick<ProvisionedResource, "agents">): ReadonlyArray<Omit<ProvisionedAgent, "auth">> =>
  agents.flatMap((agent) => [agent, ...(agent.devcontainers ?? []).flatMap((container) => containedAgent(agent, container) ?? [])])
