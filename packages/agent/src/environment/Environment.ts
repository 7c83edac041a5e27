import { isAbsolute, join, resolve } from "node:path"
import type { AgentMessages } from "@atelier/agent-protocol"
import type { AgentConfig } from "../AgentConfig.js"

type Variables = Readonly<Record<string, string>>

/** An absolute path: `~` is the home directory, relative paths begin at `base`. */
export const absolutePath = (path: string, { base, home }: { readonly home: string; readonly base: string }): string => {
  const fromHome = path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path
  return isAbsolute(fromHome) ? resolve(fromHome) : resolve(base, fromHome)
}

/** The same with `$NAME` and `${NAME}` replaced; unknown variables are empty. */
export const expandPath = (
  path: string,
  options: { readonly variables: Variables; readonly home: string; readonly base: string }
): string => {
  const valueOf = (name: string) => options.variables[name] ?? (name === "HOME" ? options.home : "")
  const replaced = path.replaceAll(/\$(?:\{(\w+)\}|(\w+))/g, (_, braced: string | undefined, plain: string | undefined) =>
    valueOf(braced ?? plain ?? "")
  )
  return absolutePath(replaced, options)
}

/** The manifest's directory; the home directory when it names none. */
export const directoryOf = (config: AgentConfig, manifest: AgentMessages.Manifest): string =>
  expandPath(manifest.directory, { variables: config.environment, home: config.homeDirectory, base: config.homeDirectory })

const uuidOf = (id: Uint8Array): string =>
  Buffer.from(id)
    .toString("hex")
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-")

/**
 * The variables of the workspace's scripts. From weak to strong: what the agent inherited, except its token; git's way to its tokens, where `askpass` is the path of a program; the template's; the owner's secrets; those
 * that tell which workspace this is.
 */
export const variablesOf = (config: AgentConfig, manifest: AgentMessages.Manifest, askpass = ""): Variables => {
  const name = config.brand.environmentName
  // What the engine has for the agent alone
  const engineOnly = [`${name}_AGENT_FILES`, `${name}_AGENT_TELL_START`]
  const withheld = new Set(config.shareToken ? engineOnly : [...engineOnly, `${name}_AGENT_TOKEN`, `${name}_AGENT_TOKEN_FILE`])
  const optional = (key: string, value: string) => (value === "" ? {} : { [key]: value })
  return {
    HOME: config.homeDirectory,
    ...Object.fromEntries(Object.entries(config.environment).filter(([key]) => !withheld.has(key))),
    ...optional("GIT_ASKPASS", askpass),
    ...Object.fromEntries(manifest.environment_variables),
    ...Object.fromEntries(
      manifest.secrets.flatMap(({ env_name, value }) => (env_name === "" ? [] : [[env_name, new TextDecoder().decode(value)]]))
    ),
    [name]: "true",
    [`${name}_AGENT_URL`]: config.url.href,
    [`${name}_WORKSPACE_NAME`]: manifest.workspace_name,
    [`${name}_WORKSPACE_ID`]: uuidOf(manifest.workspace_id),
    [`${name}_WORKSPACE_OWNER_NAME`]: manifest.owner_username,
    [`${name}_WORKSPACE_AGENT_NAME`]: manifest.agent_name,
    [`${name}_WORKSPACE_AGENT_ID`]: uuidOf(manifest.agent_id),
    ...optional("VSCODE_PROXY_URI", manifest.vs_code_port_proxy_uri)
  }
}
