/** An agent of a template, with its apps, scripts, metadata and environment, as a build makes it. */
import {
  type AgentMetadataDescription,
  DisplayApp,
  type ProvisionedAgent,
  type ProvisionedApp,
  type ProvisionedScript
} from "@atelier/core/provisioning"
import type { Uuid } from "@atelier/core/platform"
import { join } from "node:path/posix"
import { type Evaluator, maximumScript } from "./Evaluator.js"
import type { Agent, App, Script } from "./definition/Agent.js"
import type { Path } from "./YamlSource.js"

/** The machine agents run on, in the words of `os` and `arch`. */
export interface Platform {
  readonly os: string
  readonly arch: string
}

/** Where a build happens. */
export interface Place {
  /** Whether an agent has a file system of its own, which paths of the template may name anywhere. */
  readonly kind: "container" | "machine"
  /** The workspace's own directory: absolute on a machine; `~`, the home directory, in a container. */
  readonly directory: string
  /** The type of the resource that a template makes. */
  readonly resourceType: string
  readonly platform: Platform
  /** A port for a program of the workspace; on a machine that workspaces share, one that was free when the build was evaluated. */
  readonly port: number
  /** The token of an agent, by name. */
  readonly token: (agent: string) => Uuid.Uuid
}

const environmentOf = (evaluator: Evaluator, agent: Agent, path: Path): Readonly<Record<string, string>> => {
  const environment = new Map<string, string>()
  const entries = evaluator.present(evaluator.template.definition.env, ["env"], (entry, at) => ({ entry, at }))
  for (const { at, entry } of entries.filter(({ entry }) => entry.agent === undefined || entry.agent === agent.name)) {
    const value = evaluator.scalar(entry.value, [...at, "value"])
    const before = environment.get(entry.name)
    switch (entry.merge_strategy) {
      case "replace":
        environment.set(entry.name, value)
        break
      case "append":
        environment.set(entry.name, before === undefined ? value : `${before}:${value}`)
        break
      case "prepend":
        environment.set(entry.name, before === undefined ? value : `${value}:${before}`)
        break
      case "error":
        if (before !== undefined) evaluator.report([...at, "name"], `${entry.name} is set already, and merge_strategy is error`)
        environment.set(entry.name, value)
    }
  }
  for (const [name, value] of Object.entries(agent.env)) environment.set(name, evaluator.scalar(value, [...path, "env", name]))
  return Object.fromEntries(environment)
}

const provisionedApp = (evaluator: Evaluator, app: App, path: Path): ProvisionedApp => {
  return {
    slug: app.slug,
    display_name: evaluator.text(app.display_name, [...path, "display_name"], 64) || app.slug,
    command: evaluator.text(app.command, [...path, "command"], 65_534),
    url: evaluator.text(app.url, [...path, "url"], 65_534),
    icon: evaluator.text(app.icon, [...path, "icon"], 256),
    subdomain: app.subdomain,
    external: app.external,
    sharing_level: app.share ?? "owner",
    healthcheck:
      app.healthcheck === undefined
        ? null
        : { ...app.healthcheck, url: evaluator.text(app.healthcheck.url, [...path, "healthcheck", "url"], 65_534) },
    order: app.order,
    group: evaluator.text(app.group, [...path, "group"], 64),
    hidden: app.hidden,
    open_in: app.open_in,
    tooltip: evaluator.text(app.tooltip, [...path, "tooltip"], 2048)
  }
}

const provisionedScript = (evaluator: Evaluator, script: Script, path: Path): ProvisionedScript => ({
  display_name: script.display_name,
  icon: evaluator.text(script.icon, [...path, "icon"], 256),
  script: evaluator.text(script.script, [...path, "script"], maximumScript),
  cron: script.cron ?? "",
  start_blocks_login: script.start_blocks_login,
  // A prebuilt workspace has no owner before its claim
  run_on_start: script.run_on_start || (script.run_for_owner && evaluator.input.metadata.prebuilt_workspace_stage !== "create"),
  run_on_stop: script.run_on_stop,
  timeout_seconds: script.timeout,
  log_path: evaluator.text(script.log_path, [...path, "log_path"], 4096)
})

const scriptsOf = (evaluator: Evaluator, agent: Agent, path: Path): ReadonlyArray<ProvisionedScript> => {
  const shorthand = { icon: "", cron: "", timeout_seconds: 0, log_path: "" }
  const startup = evaluator.text(agent.startup_script, [...path, "startup_script"], maximumScript)
  const shutdown = evaluator.text(agent.shutdown_script, [...path, "shutdown_script"], maximumScript)
  return [
    ...(startup === ""
      ? []
      : [
          {
            ...shorthand,
            display_name: "Startup Script",
            script: startup,
            run_on_start: true,
            run_on_stop: false,
            start_blocks_login: agent.startup_script_behavior === "blocking"
          }
        ]),
    ...(shutdown === ""
      ? []
      : [
          {
            ...shorthand,
            display_name: "Shutdown Script",
            script: shutdown,
            run_on_start: false,
            run_on_stop: true,
            start_blocks_login: false
          }
        ]),
    ...evaluator.present(agent.scripts, [...path, "scripts"], (script, at) => provisionedScript(evaluator, script, at))
  ]
}

const metadataOf = (evaluator: Evaluator, agent: Agent, path: Path): ReadonlyArray<AgentMetadataDescription> =>
  evaluator.present(agent.metadata, [...path, "metadata"], ({ display_name, interval, key, order, script, timeout }, at) => ({
    key,
    display_name: evaluator.text(display_name, [...at, "display_name"], 127) || key,
    script: evaluator.text(script, [...at, "script"]),
    interval,
    timeout: timeout ?? interval,
    order
  }))

/** Where the agent's commands start. */
const directoryOf = (evaluator: Evaluator, place: Place, agent: Agent, path: Path): string => {
  const isWhole = place.kind === "container" && agent.dir?.source.startsWith("/") === true
  if (isWhole) return `/${evaluator.localPath(evaluator.text(agent.dir, [...path, "dir"], 4096).slice(1) || ".", [...path, "dir"]) ?? ""}`
  return join(place.directory, evaluator.pathBeneath(agent.dir, [...path, "dir"]) ?? "")
}

export const provisionedAgent = (evaluator: Evaluator, place: Place, agent: Agent, path: Path): ProvisionedAgent => {
  const { arch, os } = place.platform
  const isContainer = place.kind === "container"
  const platform = isContainer ? "agents run in containers of" : "agents run on this machine, which is"
  if (agent.os !== undefined && agent.os !== os) evaluator.report([...path, "os"], `${platform} ${os}`)
  if (agent.arch !== undefined && agent.arch !== arch) evaluator.report([...path, "arch"], `${platform} ${arch}`)
  return {
    name: agent.name,
    operating_system: os,
    architecture: arch,
    directory: directoryOf(evaluator, place, agent, path),
    environment_variables: environmentOf(evaluator, agent, path),
    auth: { _tag: "Token", token: place.token(agent.name) },
    connection_timeout_seconds: agent.connection_timeout,
    troubleshooting_url: evaluator.text(agent.troubleshooting_url, [...path, "troubleshooting_url"], 4096),
    motd_file: evaluator.text(agent.motd_file, [...path, "motd_file"], 4096),
    display_apps: DisplayApp.literals.filter((name) => agent.display_apps[name]),
    api_key_scope: agent.api_key_scope,
    order: agent.order,
    apps: evaluator.present(agent.apps, [...path, "apps"], (app, at) => provisionedApp(evaluator, app, at)),
    scripts: scriptsOf(evaluator, agent, path),
    metadata: metadataOf(evaluator, agent, path)
  }
}
