/** The environment of Terraform, in which the provider finds the workspace. templates-and-provisioning.md §10.3; terraform.md §3. */
import { Uuid } from "@atelier/core/platform"
import { agentsInState, type BuildMetadata, type PlanInput } from "@atelier/core/provisioning"
import { Redacted } from "effect"
import { createHash } from "node:crypto"

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

/** Set by this engine alone, whatever the server was started with. */
const own = /^(?:CODER_|TF_VAR_|TF_CLI_ARGS|TF_LOG|TF_INPUT$|TF_DATA_DIR$|TF_WORKSPACE$|TF_IN_AUTOMATION$|TF_PLUGIN_CACHE|NODE_OPTIONS$)/

/** Of the server itself: templates have no use for the key of its store. */
const isOfServer = (name: string): boolean => /(?:^|_)ATELIER_/.test(name)

/** What says the same on this machine and in a container. */
const ofPlace =
  "TZ LANG LANGUAGE LC_* HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy " +
  "TF_CLI_CONFIG_FILE TF_REGISTRY_CLIENT_TIMEOUT TF_REGISTRY_DISCOVERY_RETRY"

/** What Terraform, its providers and git need to know of the machine. None is a credential, unless a proxy's address holds one. */
const ofMachine =
  "PATH HOME USER LOGNAME SHELL TMPDIR XDG_* SSL_CERT_FILE SSL_CERT_DIR " +
  // Where the cluster and the engine that the server runs in are; providers look there without being told
  "KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT DOCKER_HOST"

const platforms: ReadonlyArray<readonly [os: string, arch: string]> = [
  ["linux", "amd64"],
  ["linux", "arm64"],
  ["linux", "armv7"],
  ["darwin", "amd64"],
  ["darwin", "arm64"],
  ["windows", "amd64"],
  ["windows", "arm64"]
]

/** What a machine runs to become an agent: the script that the server has for its platform. */
const agentScript = (accessUrl: string, os: string, arch: string): string => {
  const url = `${accessUrl.replace(/\/+$/, "")}/api/v2/init-script/${os}/${arch}`
  if (os === "windows") return `iwr -useb "${url}" | iex\n`
  return `#!/bin/sh
set -eu
if command -v curl >/dev/null 2>&1; then
  script=$(curl -fsSL "${url}")
else
  script=$(wget -qO- "${url}")
fi
exec sh -c "$script"
`
}

const valueOf = (secret: Redacted.Redacted<string> | undefined): string => (secret === undefined ? "" : Redacted.value(secret))

/** Agents of a claimed workspace keep their tokens. The provider reads the name of the empty id. terraform.md §3 no. 1. */
const runningTokens = ({ metadata, state }: PlanInput): ReadonlyArray<readonly [string, string]> => {
  if (metadata.prebuilt_workspace_stage !== "claim") return []
  const agents = agentsInState(state)
  const [first] = agents
  return [...agents, ...(first === undefined ? [] : [{ ...first, agent_id: "" }])].map(({ agent_id, token }) => [
    `CODER_RUNNING_WORKSPACE_AGENT_TOKEN_${sha256(agent_id)}`,
    token
  ])
}

const workspaceEnvironment = (metadata: BuildMetadata): Readonly<Record<string, string>> => ({
  CODER_AGENT_URL: metadata.access_url,
  CODER_WORKSPACE_TRANSITION: metadata.transition === "delete" ? "destroy" : metadata.transition,
  CODER_WORKSPACE_NAME: metadata.workspace_name,
  CODER_WORKSPACE_ID: metadata.workspace_id,
  // With the id of a build the provider refuses an empty name of the template, which imports may have
  ...(metadata.workspace_build_id === Uuid.nil ? {} : { CODER_WORKSPACE_BUILD_ID: metadata.workspace_build_id }),
  CODER_WORKSPACE_TEMPLATE_ID: metadata.template_id,
  CODER_WORKSPACE_TEMPLATE_NAME: metadata.template_name,
  CODER_WORKSPACE_TEMPLATE_VERSION: metadata.template_version,
  CODER_WORKSPACE_OWNER: metadata.owner_username,
  CODER_WORKSPACE_OWNER_ID: metadata.owner_id,
  CODER_WORKSPACE_OWNER_NAME: metadata.owner_name,
  CODER_WORKSPACE_OWNER_EMAIL: metadata.owner_email,
  CODER_WORKSPACE_OWNER_LOGIN_TYPE: metadata.owner_login_type,
  CODER_WORKSPACE_OWNER_GROUPS: JSON.stringify(metadata.owner_groups),
  CODER_WORKSPACE_OWNER_RBAC_ROLES: JSON.stringify(metadata.owner_rbac_roles ?? []),
  CODER_WORKSPACE_OWNER_SSH_PUBLIC_KEY: metadata.owner_ssh_public_key,
  CODER_WORKSPACE_OWNER_SSH_PRIVATE_KEY: valueOf(metadata.owner_ssh_private_key),
  CODER_WORKSPACE_OWNER_OIDC_ACCESS_TOKEN: valueOf(metadata.owner_oidc_access_token),
  CODER_WORKSPACE_OWNER_SESSION_TOKEN: valueOf(metadata.owner_session_token),
  ...(metadata.task === undefined ? {} : { CODER_TASK_ID: metadata.task.id, CODER_TASK_PROMPT: metadata.task.prompt }),
  ...(metadata.prebuilt_workspace_stage === "create" ? { CODER_WORKSPACE_IS_PREBUILD: "true" } : {}),
  ...(metadata.prebuilt_workspace_stage === "claim" ? { CODER_WORKSPACE_IS_PREBUILD_CLAIM: "true" } : {})
})

/** The same for the plan and the apply, since parameters that depend on resources are read in the apply. terraform.md §3 no. 2. */
export const buildEnvironment = (input: PlanInput): Readonly<Record<string, string>> => ({
  ...workspaceEnvironment(input.metadata),
  ...Object.fromEntries([
    ...runningTokens(input),
    ...(input.external_auth ?? []).flatMap(({ access_token, id }) =>
      ["EXTERNAL", "GIT"].map((kind) => [`CODER_${kind}_AUTH_ACCESS_TOKEN_${id}`, Redacted.value(access_token)])
    ),
    ...input.parameters.map(({ name, value }) => [`CODER_PARAMETER_${sha256(name)}`, value]),
    ...input.previous_parameters.map(({ name, value }) => [`CODER_PARAMETER_PREVIOUS_${sha256(name)}`, value]),
    ...platforms.map(([os, arch]) => [`CODER_AGENT_SCRIPT_${os}_${arch}`, agentScript(input.metadata.access_url, os, arch)])
  ])
})

/** An environment in the form of `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The variables of an environment with these names. A `*` at the end of a name stands for any rest: `AWS_*`. */
export const variablesNamed = (names: ReadonlyArray<string>, environment: Environment): Environment => {
  const isNamed = (variable: string) =>
    names.some((name) => (name.endsWith("*") ? variable.startsWith(name.slice(0, -1)) : variable === name))
  return Object.fromEntries(Object.entries(environment).filter(([variable]) => isNamed(variable)))
}

/**
 * What every command is given, beside what the engine sets: settings of the machine, and what the host adds. A container has paths and programs of its own. Templates can read all of it,
 * so nothing else of this process's environment is passed on.
 */
export const baseEnvironment = (added: Environment = {}, isContained = false): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries({ ...variablesNamed(`${ofPlace}${isContained ? "" : ` ${ofMachine}`}`.split(" "), process.env), ...added }).flatMap(
      ([name, value]) => (value === undefined || own.test(name) || isOfServer(name) ? [] : [[name, value]])
    )
  )

/** The values of an input that must not be in logs. */
export const secretsOf = (input: PlanInput): ReadonlyArray<string> => [
  valueOf(input.metadata.owner_session_token),
  valueOf(input.metadata.owner_ssh_private_key),
  valueOf(input.metadata.owner_oidc_access_token),
  ...(input.external_auth ?? []).map(({ access_token }) => Redacted.value(access_token)),
  ...input.variables.filter(({ sensitive }) => sensitive).map(({ value }) => value),
  ...agentsInState(input.state).map(({ token }) => token)
]
