/** What engines answer, complete and valid; a test names the fields it asserts on. */
import { Uuid } from "@atelier/core/platform"
import type { ProvisionedAgent, ProvisionedApp, ProvisionedDevcontainer, ProvisionedResource } from "@atelier/core/provisioning"

/** An app without health check. */
export const anApp = (fields: Partial<ProvisionedApp> = {}): ProvisionedApp => ({
  slug: "code",
  display_name: "",
  command: "",
  url: "http://localhost:8080",
  icon: "",
  subdomain: false,
  external: false,
  sharing_level: "owner",
  healthcheck: null,
  order: 0,
  group: "",
  hidden: false,
  open_in: "slim-window",
  tooltip: "",
  ...fields
})

/** An agent called `main` with an unknown token. */
export const anAgent = (fields: Partial<ProvisionedAgent> = {}): ProvisionedAgent => ({
  name: "main",
  operating_system: "linux",
  architecture: "amd64",
  directory: "",
  environment_variables: {},
  auth: { _tag: "Token", token: Uuid.Uuid.make(globalThis.crypto.randomUUID()) },
  connection_timeout_seconds: 120,
  troubleshooting_url: "",
  motd_file: "",
  display_apps: ["vscode", "ssh_helper", "port_forwarding_helper", "web_terminal"],
  api_key_scope: "all",
  order: 0,
  apps: [],
  scripts: [],
  metadata: [],
  ...fields
})

/** A dev container without an agent of its own. */
export const aDevcontainer = (fields: Partial<ProvisionedDevcontainer> = {}): ProvisionedDevcontainer => ({
  name: "site",
  workspace_folder: "/work",
  config_path: "",
  environment_variables: {},
  apps: [],
  scripts: [],
  ...fields
})

/** A machine with one agent. */
export const aResource = (fields: Partial<ProvisionedResource> = {}): ProvisionedResource => ({
  name: "dev",
  type: "docker_container",
  icon: "",
  hide: false,
  daily_cost: 0,
  instance_type: "",
  module_path: "",
  metadata: [],
  agents: [anAgent()],
  ...fields
})
