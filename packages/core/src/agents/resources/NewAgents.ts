import { Effect } from "effect"
import { type Cryptography, hashSecret } from "../../platform/secrets/Cryptography.js"
import type { Ids } from "../../platform/Ids.js"
import type * as Timestamp from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { ProvisionedAgent, ProvisionedApp, ProvisionedScript } from "../../provisioning/engines/ProvisionedResource.js"
import type { AgentTokens } from "../credentials/AgentTokens.js"
import type { NewAgent } from "./BuildResourceRepository.js"
import { containedAgent, devcontainerScript, type TemplateDevcontainer } from "../manifest/Devcontainer.js"
import { initialHealth, type WorkspaceApp } from "../apps/WorkspaceApp.js"

interface Needs {
  readonly ids: Ids["Type"]
  readonly cryptography: Cryptography["Type"]
  readonly tokens: AgentTokens["Type"]
}

/** The agents of a build, made from what its template declares. */
export const newAgents = ({ ids, cryptography, tokens }: Needs) => {
  const appOf = (app: ProvisionedApp, agentId: Uuid, now: Timestamp.Timestamp): Effect.Effect<WorkspaceApp> =>
    Effect.map(ids.next, (fresh) => ({
      id: app.id ?? fresh,
      created_at: now,
      agent_id: agentId,
      slug: app.slug,
      display_name: app.display_name,
      icon: app.icon,
      command: app.command,
      url: app.url,
      healthcheck_url: app.healthcheck?.url ?? "",
      healthcheck_interval: app.healthcheck?.interval ?? 0,
      healthcheck_threshold: app.healthcheck?.threshold ?? 0,
      health: initialHealth(app.healthcheck?.url ?? ""),
      subdomain: app.subdomain,
      sharing_level: app.sharing_level,
      external: app.external,
      display_order: app.order,
      display_group: app.group,
      hidden: app.hidden,
      open_in: app.open_in,
      tooltip: app.tooltip
    }))

  const scriptOf = (script: ProvisionedScript) => Effect.all({ id: ids.next, log_source_id: ids.next, script: Effect.succeed(script) })

  const agentOf = (
    agent: ProvisionedAgent,
    { isGivenOut, parentId, resourceId }: { readonly isGivenOut: boolean; readonly parentId: Uuid | null; readonly resourceId: Uuid },
    now: Timestamp.Timestamp
  ): Effect.Effect<NewAgent> =>
    Effect.gen(function* () {
      const id = yield* ids.next
      const environment = Object.entries(agent.environment_variables)
      const token = agent.auth._tag === "Token" ? agent.auth.token : yield* ids.secret
      return {
        row: {
          id,
          created_at: now,
          updated_at: now,
          resource_id: resourceId,
          parent_id: parentId,
          name: agent.name,
          architecture: agent.architecture,
          operating_system: agent.operating_system,
          directory: agent.directory,
          expanded_directory: "",
          environment_variables: environment.length === 0 ? null : agent.environment_variables,
          auth_instance_id: agent.auth._tag === "InstanceIdentity" ? agent.auth.instance_id : null,
          api_key_scope: agent.api_key_scope,
          version: "",
          api_version: "",
          subsystems: [],
          display_apps: agent.display_apps,
          display_order: agent.order,
          motd_file: agent.motd_file,
          troubleshooting_url: agent.troubleshooting_url,
          connection_timeout_seconds: agent.connection_timeout_seconds,
          first_connected_at: null,
          last_connected_at: null,
          disconnected_at: null,
          lifecycle_state: "created",
          started_at: null,
          ready_at: null,
          logs_length: 0,
          logs_overflowed: false
        },
        hashed_token: yield* hashSecret(cryptography, token),
        sealed_token: isGivenOut ? yield* tokens.seal(id, token) : null,
        apps: yield* Effect.forEach(agent.apps, (app) => appOf(app, id, now)),
        scripts: yield* Effect.forEach(agent.scripts, scriptOf),
        metadata: agent.metadata,
        monitors: agent.monitors ?? [],
        devcontainers: []
      }
    })

  /** An agent with its dev containers, and the agents inside these. */
  const withContainers = (agent: ProvisionedAgent, parent: NewAgent, now: Timestamp.Timestamp) =>
    Effect.gen(function* () {
      const contained: Array<NewAgent> = []
      const devcontainers: Array<TemplateDevcontainer> = []
      const scripts: Array<NewAgent["scripts"][number]> = []
      for (const container of agent.devcontainers ?? []) {
        const id = yield* ids.next
        const inner = containedAgent(agent, container)
        const place = { isGivenOut: true, parentId: parent.row.id, resourceId: parent.row.resource_id }
        const auth = { _tag: "Token", token: yield* ids.secret } as const
        const made = inner === undefined ? undefined : yield* agentOf({ ...inner, auth }, place, now)
        if (made !== undefined) contained.push(made)
        const { config_path, name, workspace_folder } = container
        devcontainers.push({ id, name, workspace_folder, config_path, subagent_id: made?.row.id ?? null })
        // Clients find the log of a dev container by its id
        scripts.push({ id, log_source_id: yield* ids.next, script: devcontainerScript(container) })
      }
      return [{ ...parent, scripts: [...parent.scripts, ...scripts], devcontainers }, ...contained]
    })

  return { agentOf, withContainers }
}
