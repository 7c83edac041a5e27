/** Texts of the deployment's settings. */
import { placesText } from "./places.js"

export const deploymentText = {
  title: placesText.deployment,
  tabsLabel: "Parts of the deployment",
  tabs: {
    health: "Health",
    options: "Options",
    appearance: "Appearance",
    notifications: "Notifications",
    applications: "Applications",
    proxies: "Proxies",
    licenses: "Licenses",
    insights: "Insights",
    sync: "Provider sync",
    prebuilds: "Prebuilds"
  },
  save: "Save",
  saved: "Saved"
}

export const healthText = {
  checked: "Checked",
  again: "Check again",
  sections: {
    access_url: "Access URL",
    database: "Database",
    websocket: "WebSockets",
    provisioner_daemons: "Provisioner daemons",
    workspace_proxy: "Workspace proxies",
    derp: "Relays of the private network"
  },
  hints: {
    access_url: "Users and agents reach the server at this address.",
    database: "How fast the database answers.",
    websocket: "Terminals and live updates need connections that stay open.",
    provisioner_daemons: "Builds need a daemon that is connected and of a version that fits.",
    workspace_proxy: "Proxies near users carry their connections.",
    derp: "The way for connections that cannot be direct."
  },
  severities: { ok: "Healthy", warning: "Needs attention", error: "Unhealthy" },
  dismissed: "Dismissed",
  dismiss: "Dismiss",
  undismiss: "Show again",
  all: "Everything works",
  latency: "Latency",
  threshold: (milliseconds: number) => `at most ${milliseconds} ms`
}

export const optionsText = {
  find: "Find an option",
  placeholder: "name, flag, environment variable or description",
  onlySet: "Only what is set",
  none: "No option matches",
  noneHint: "Change the words, or show options with their defaults too.",
  sources: { default: "default", env: "environment", flag: "flag", yaml: "file", unknown: "unknown" },
  unset: "not set",
  count: (count: number) => (count === 1 ? "1 option" : `${count} options`)
}

export const appearanceText = {
  identity: "Name and logo",
  identityHint: "Shown on the pages of this deployment.",
  name: "Name",
  logo: "Logo",
  logoHint: "An address of a picture.",
  banners: "Announcements",
  bannersHint: "Shown above every screen to everyone who is signed in.",
  banner: (number: number) => `Announcement ${number}`,
  message: "Message",
  messageHint: "Markdown. Links and emphasis are shown.",
  color: "Background",
  enabled: "Shown",
  add: "Add an announcement",
  remove: "Remove"
}

export const methodsText = {
  paused: "Pause all notifications",
  pausedHint: "They are kept, and sent once this is off again.",
  test: "Send a test notification",
  tested: "A test notification is on its way to you",
  events: "Events",
  eventsHint: "How each kind of notification reaches users. Users may turn off what they do not want.",
  byDefault: (method: string) => `Default (${method})`,
  off: "off unless users turn it on",
  method: (name: string) => `Way of ${name}`,
  methods: { smtp: "Email", webhook: "Webhook", inbox: "Inbox" }
}

export const applicationsText = {
  title: "OAuth2 applications",
  hint: "Programs that users can sign in to with their account here.",
  create: "New application",
  createTitle: "Register an application",
  created: (name: string) => `${name} was registered`,
  name: "Name",
  callback: "Callback URL",
  callbackHint: "Where users are sent back to after they have agreed.",
  icon: "Icon",
  none: "No application",
  noneHint: "Register one to let its users sign in with their account here.",
  clientId: "Client ID",
  endpoints: "Endpoints",
  authorization: "Authorization",
  token: "Token",
  settings: "Settings",
  secrets: "Client secrets",
  secretsHint: "A secret is shown once. Two at a time let you change it without an interruption.",
  addSecret: "New secret",
  secretTitle: "Copy the secret now",
  secretOnce: "It is shown this once. Whoever has it can act as the application.",
  done: "Done",
  used: "Last used",
  deleteSecret: "Delete secret",
  deleteSecretTitle: "Delete this secret?",
  deleteSecretText: "The application can no longer use it.",
  secretDeleted: "The secret was deleted",
  delete: "Delete application",
  deleteTitle: (name: string) => `Delete ${name}?`,
  deleteText: "All its tokens end. This cannot be undone.",
  deleted: (name: string) => `${name} was deleted`,
  registration: "Applications may register themselves",
  registrationHint: "Dynamic client registration, which some clients of the Model Context Protocol need.",
  noSecrets: "No secret yet"
}

export const proxiesText = {
  title: "Workspace proxies",
  hint: "Servers near users that carry their terminals and apps.",
  create: "New proxy",
  createTitle: "Register a workspace proxy",
  name: "Name",
  nameHint: "Lowercase letters, digits and hyphens.",
  displayName: "Display name",
  icon: "Icon",
  none: "No proxy",
  noneHint: "The server itself carries all connections.",
  statuses: { ok: "Healthy", unreachable: "Unreachable", unhealthy: "Unhealthy", unregistered: "Never connected", unknown: "Unknown" },
  tokenTitle: "Copy the token now",
  tokenOnce: "It is shown this once. Start the proxy with it.",
  regenerate: "New token",
  regenerateTitle: (name: string) => `Make a new token for ${name}?`,
  regenerateText: "The proxy stops working until it is started with the new token.",
  delete: "Delete proxy",
  deleteTitle: (name: string) => `Delete ${name}?`,
  deleteText: "Users who chose it go on over the server.",
  deleted: (name: string) => `${name} was deleted`,
  actions: (name: string) => `Actions for ${name}`,
  done: "Done"
}

export const licensesText = {
  title: "Licenses",
  hint: "All features are free. Licenses are kept for clients that ask for them.",
  none: "No license",
  noneHint: "Everything works without one.",
  add: "Add a license",
  key: "License key",
  added: "The license was added",
  uploaded: "Added",
  features: "Features",
  on: "On",
  off: "Off",
  use: (actual: number, limit: number | undefined) => (limit === undefined ? `${actual}` : `${actual} of ${limit}`),
  delete: "Delete license",
  deleteTitle: "Delete this license?",
  deleteText: "Features that it gave end.",
  deleted: "The license was deleted"
}

export const provisionersText = {
  daemons: "Daemons",
  daemonsHint: "Programs that run the builds of this organization.",
  noDaemons: "No daemon is connected",
  noDaemonsHint: "Builds wait until one is.",
  keys: "Keys",
  keysHint: "A daemon on another machine connects with a key.",
  noKeys: "No key",
  createKey: "New key",
  createKeyTitle: "Create a provisioner key",
  keyName: "Name",
  tags: "Tags",
  tagsHint: "One a line, such as environment=production. A daemon with the key takes jobs with these tags.",
  keyTitle: "Copy the key now",
  keyOnce: "It is shown this once.",
  done: "Done",
  deleteKey: "Delete key",
  deleteKeyTitle: (name: string) => `Delete ${name}?`,
  deleteKeyText: "Daemons that use it are disconnected.",
  keyDeleted: (name: string) => `${name} was deleted`,
  jobs: "Jobs",
  jobsHint: "The newest builds and imports.",
  noJobs: "No job yet",
  noJobsOf: "No job has this state",
  jobViews: { all: "All", waiting: "Waiting", running: "Running", failed: "Failed" },
  created: "Created",
  types: { template_version_import: "import", workspace_build: "build", template_version_dry_run: "dry run" },
  daemonStatuses: { idle: "Idle", busy: "Busy", offline: "Offline" },
  queue: (position: number, size: number) => `${position} of ${size} in the queue`
}

export const prebuildsText = {
  title: "Prebuilt workspaces",
  hint: "Templates say how many workspaces are kept ready for each of their presets.",
  pause: "Pause the making of prebuilt workspaces",
  pauseHint: "Those that are ready can still be taken. None is made or removed until this is off again.",
  off: "Prebuilt workspaces are not enabled in this deployment."
}

export const aboutText = {
  title: (name: string) => `About ${name}`,
  documentation: "Documentation",
  licenses: "Licenses of libraries",
  version: "Version",
  console: "Version of the console",
  id: "Deployment",
  address: "Address",
  kind: "Kind",
  server: "Server",
  proxy: "Workspace proxy",
  agents: "Interface of agents",
  provisioners: "Interface of provisioners",
  telemetry: "Telemetry",
  on: "On",
  off: "Off",
  source: "Source",
  upgrade: "Upgrade of the command line"
}
