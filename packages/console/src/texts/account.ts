/** Texts of the user's own account. */
import { placesText } from "./places.js"

export const accountText = {
  title: placesText.settings,
  tabs: "Parts of the settings",
  profile: "Account",
  security: "Security",
  tokens: "Tokens",
  sshKeys: "SSH keys",
  secrets: "Secrets",
  externalAuth: "External authentication",
  notifications: "Notifications",
  appearance: "Appearance",
  schedule: "Schedule",
  saved: "Saved",
  save: "Save",
  cancel: "Cancel"
}

export const profileText = {
  title: "Profile",
  description: "How other people see you.",
  username: "Username",
  usernameHint: "Letters, digits and hyphens. It is part of the addresses of your workspaces and their apps, which change with it.",
  name: "Name",
  avatar: "Address of a picture",
  avatarHint:
    "An icon of this service such as /icon/rocket.svg, an emoji such as /emojis/1f680.png, or a data: address. Other addresses are stored, and not shown in the console.",
  facts: "Your account",
  email: "Email address",
  login: "You sign in with",
  member: "Member",
  created: "Member since",
  roles: "Roles",
  noRoles: "Member"
}

export const loginNames: Readonly<Record<string, string>> = {
  password: "a password",
  github: "GitHub",
  oidc: "your identity provider",
  token: "tokens alone",
  none: "no login of your own"
}

export const securityText = {
  password: "Password",
  passwordDescription: "All your sessions end when you change it, this one too, and your tokens with them.",
  elsewhere: (login: string) => `You sign in with ${login}, so there is no password here.`,
  current: "Current password",
  next: "New password",
  again: "New password again",
  differs: "The two new passwords differ.",
  change: "Change password",
  changed: "Password changed",
  apps: "Connected applications",
  appsDescription: "Applications that act for you, because you allowed it.",
  noApps: "No application acts for you",
  noAppsHint: "An application appears here after you have allowed it on the consent page.",
  disconnect: "Disconnect",
  disconnectFrom: (name: string) => `Disconnect ${name}`,
  disconnectTitle: (name: string) => `Disconnect ${name}?`,
  disconnectHint: "Its tokens stop working at once. It may ask for your consent again.",
  disconnected: (name: string) => `${name} is disconnected`
}

export const tokensText = {
  description: "Programs act for you with a token.",
  create: "New token",
  empty: "You have no tokens",
  emptyHint: "A token lets a program call the interface in your name, within the limits that you set.",
  name: "Name",
  scopes: "Scopes",
  everything: "Everything you may do",
  limits: (count: number) => (count === 1 ? "1 object" : `${count} objects`),
  lastUsed: "Last used",
  expires: "Expires",
  expired: "Expired",
  actionsHead: "Actions",
  actions: (name: string) => `Actions for ${name}`,
  expire: "Expire now",
  expiredNow: (name: string) => `${name} has expired`,
  delete: "Delete",
  deleteTitle: (name: string) => `Delete the token ${name}?`,
  deleteHint: "Programs that use it are refused at once.",
  deleted: (name: string) => `${name} is deleted`
}

export const newTokenText = {
  title: "New token",
  description: "The token is shown once, after it has been created.",
  nameHint: "Letters, digits, hyphens and underscores, such as the program's name.",
  lifetime: "Lifetime",
  days: (days: number) => (days === 1 ? "1 day" : `${days} days`),
  custom: "Until a day",
  until: "Last day",
  longest: (days: number) => `At most ${days} days, as this deployment allows.`,
  scopes: "Scopes",
  scopesHint: "Without a scope the token may do everything that you may do.",
  anything: "Everything you may do",
  objects: "Only these objects",
  objectsHint: "Without an object the token may act on all that its scopes cover.",
  anyObject: "All objects",
  workspace: "workspace",
  template: "template",
  create: "Create token",
  done: "Your new token",
  shownOnce: "Copy it now: it is not shown again",
  actsForYou: "Give it to no other person. It acts for you.",
  back: "Back to the tokens"
}

export const sshText = {
  git: "Key for git",
  gitDescription: "Your workspaces sign in to git hosts with this key. Add the public half to your account there.",
  created: "Created",
  regenerate: "Make a new key",
  regenerateTitle: "Replace the key for git?",
  regenerateHint: "The former key stops working in your workspaces. Add the new public half to your git hosts.",
  regenerated: "The new key is in force",
  clients: "Keys of your computers",
  clientsDescription: "SSH clients with one of these keys log in to your workspaces at the SSH gateway.",
  empty: "No key yet",
  emptyHint: "Add the public key of your computer, such as ~/.ssh/id_ed25519.pub.",
  add: "Add key",
  addTitle: "Add a public key",
  name: "Name",
  nameHint: "The key's own comment unless given.",
  publicKey: "Public key",
  publicKeyHint: "One line that begins with ssh-ed25519, ssh-rsa or the like.",
  added: "Key added",
  lastUsed: "Last used",
  delete: "Delete",
  deleteTitle: (name: string) => `Delete the key ${name}?`,
  deleteHint: "The SSH connections that were made with it end.",
  deleted: "Key deleted"
}

export const secretsText = {
  description: "Values that your workspaces get as a variable, a file or both. A value is never shown again, and no other user gets it.",
  create: "New secret",
  createHint: "Workspaces get it at their next start.",
  add: "Add secret",
  created: (name: string) => `${name} was added`,
  change: "Change",
  changeTitle: (name: string) => `Change ${name}`,
  saved: (name: string) => `${name} was changed`,
  import: "Import secrets",
  importHint: "Makes up to 50 secrets of one text: all of them, or none if one is refused.",
  importAction: "Import",
  imported: (count: number) => (count === 1 ? "1 secret was added" : `${count} secrets were added`),
  empty: "You have no secrets",
  emptyHint: "Put tokens and passwords here that your programs need, instead of into files of a workspace.",
  name: "Name",
  nameHint: "Such as NPM_TOKEN. It stays as it is.",
  value: "Value",
  valueKept: "Leave it empty to keep the value.",
  variable: "Variable",
  variableHint: "The environment variable that programs read it from.",
  file: "File",
  fileHint: "A path that begins with / or ~/, such as ~/.npmrc.",
  about: "Description",
  isOn: "On",
  isOnHint: "Workspaces get a secret that is on. It needs a variable or a file for that.",
  off: "Off",
  changed: "Changed",
  actionsHead: "Actions",
  actions: (name: string) => `Actions for ${name}`,
  enable: "Turn on",
  enabled: (name: string) => `Workspaces get ${name} from their next start on`,
  disable: "Turn off",
  disabled: (name: string) => `Workspaces do not get ${name} any more from their next start on`,
  delete: "Delete",
  deleteTitle: (name: string) => `Delete ${name}?`,
  deleteHint: "Its value cannot be brought back. Workspaces that run keep it until they stop.",
  deleted: (name: string) => `${name} was deleted`,
  fromFile: "File",
  fromFileHint: "Fills the text below. Your browser reads it, and sends only what you see.",
  fileTooLarge: "This file is larger than 1 MB.",
  fileUnreadable: "This file could not be read.",
  format: "Format",
  formats: [
    { value: "env", label: "KEY=value lines, as in .env" },
    { value: "json", label: "JSON object" },
    { value: "yaml", label: "YAML mapping" }
  ],
  content: "Names and values",
  examples: { env: "NPM_TOKEN=abc", json: '{ "NPM_TOKEN": "abc" }', yaml: "NPM_TOKEN: abc" }
}

export const externalAuthText = {
  description: "Accounts at other services, whose tokens your workspaces get.",
  empty: "This deployment is connected to no other service",
  emptyHint: "An administrator configures git hosts and other providers.",
  connected: "Connected",
  notConnected: "Not connected",
  failed: "Does not work any more",
  expires: "Token until",
  connect: "Connect",
  reconnect: "Connect again",
  disconnect: "Disconnect",
  disconnectTitle: (name: string) => `Disconnect ${name}?`,
  disconnectHint: "Workspaces lose access to it until you connect it again.",
  disconnected: (name: string) => `${name} is disconnected`,
  notRevoked: (name: string) => `${name} is disconnected here, but the service did not confirm it. Revoke the access there too.`
}

export const notificationText = {
  method: (method: string) => `Sent by ${method}`,
  stopTitle: (name: string) => `Stop notifications of “${name}”?`,
  stopHint: "You came here by the link in a message.",
  stop: "Stop them",
  empty: "There are no notifications to choose"
}

export const appearanceText = {
  theme: "Theme",
  themeDescription: "The colours of the console in this browser.",
  light: "Light",
  dark: "Dark",
  system: "As the system has it",
  keys: "Keyboard",
  keysDescription: "Shortcuts of this browser.",
  letters: "Shortcuts of single letters",
  lettersHint: "Such as j for the next row. Turn them off if you speak your input.",
  font: "Font of the terminal",
  fontDescription: "It is used where it is installed on your computer.",
  fonts: {
    "geist-mono": "Geist Mono",
    "ibm-plex-mono": "IBM Plex Mono",
    "fira-code": "Fira Code",
    "source-code-pro": "Source Code Pro",
    "jetbrains-mono": "JetBrains Mono"
  }
}

export const scheduleText = {
  title: "Quiet hours",
  description: "When your workspaces may be stopped and updated, if their template asks for it.",
  time: "Begin",
  zone: "Time zone",
  next: "Next time",
  usual: "This is the deployment's default.",
  fixed: "An administrator sets the quiet hours of this deployment.",
  missing: "This deployment has no quiet hours"
}
