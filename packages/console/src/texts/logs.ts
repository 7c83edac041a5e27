/** Texts of the audit log and of the connection log. */
import { placesText } from "./places.js"

export const auditText = {
  title: placesText.audit,
  description: "Who changed what, newest first.",
  filter: "Filter entries",
  placeholder: "resource_type:workspace action:create username:ada…",
  entries: (count: number, cap: number) =>
    count > cap ? `more than ${cap.toLocaleString("en")} entries` : `${count.toLocaleString("en")} entries`,
  none: "No entry matches",
  noneHint: "Change the filter: each word is a key and a value, such as action:create.",
  event: "Event",
  what: "Kind",
  from: "Address",
  when: "Time",
  status: "Status",
  system: "The system",
  deletedObject: "deleted",
  open: "Open the object",
  changes: "Changes",
  noChanges: "Nothing that is recorded changed.",
  field: "Field",
  before: "Before",
  after: "After",
  secret: "secret, not shown",
  nothing: "empty",
  userAgent: "Program",
  request: "Request",
  organization: "Organization",
  resourceId: "Object's ID",
  refused: "Refused",
  sameRequest: "Entries of this request",
  sameObject: "Entries of this object"
}

export const connectionsText = {
  title: placesText.connections,
  description: "Who connected to which workspace, newest first.",
  filter: "Filter connections",
  placeholder: "workspace_owner:ada type:ssh…",
  none: "No connection matches",
  noneHint: "Terminals, SSH sessions, editors and apps appear here once they are opened.",
  types: {
    ssh: "SSH",
    vscode: "VS Code",
    jetbrains: "JetBrains",
    reconnecting_pty: "Terminal",
    workspace_app: "App",
    port_forwarding: "Port",
    tunnel: "Tunnel"
  },
  kind: "Kind",
  workspace: "Workspace",
  who: "By",
  from: "Address",
  when: "Began",
  lasted: "Lasted",
  ongoing: "Ongoing",
  anonymous: "a visitor",
  unknown: "the owner",
  answered: (status: number) => `answered ${status}`,
  exit: (code: number) => `exit code ${code}`
}

export const logKeyText = {
  action: "What was done",
  resourceType: "Kind of object",
  username: "Who did it",
  target: "Name of the object",
  organization: "Organization",
  reason: "Why a build began",
  date: "A day, such as 2026-11-01",
  id: "ID of the object",
  request: "ID of the request",
  owner: "Owner of the workspace",
  type: "Kind of connection",
  status: "Whether it goes on",
  time: 'A time in quotes, such as "2026-11-01T00:00:00Z"'
}
