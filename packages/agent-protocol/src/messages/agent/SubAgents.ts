/** Agents that an agent makes. agents-and-apps.md §14. */
import { bool, bytes, enumeration, field, int32, optional, repeated, string, type TypeOf } from "../Protobuf.js"
import { agent } from "./agent.js"

export const SubAgent = agent("SubAgent", { name: field(1, string), id: field(2, bytes), auth_token: field(3, bytes) })
export type SubAgent = TypeOf<typeof SubAgent>

export const DisplayApp = enumeration({ VSCODE: 0, VSCODE_INSIDERS: 1, WEB_TERMINAL: 2, SSH_HELPER: 3, PORT_FORWARDING_HELPER: 4 })
export type DisplayApp = TypeOf<typeof DisplayApp>

export const SubAgentAppHealthcheck = agent("CreateSubAgentRequest.App.Healthcheck", {
  /** Seconds. */
  interval: field(1, int32),
  threshold: field(2, int32),
  url: field(3, string)
})
export type SubAgentAppHealthcheck = TypeOf<typeof SubAgentAppHealthcheck>

export const SubAgentApp = agent("CreateSubAgentRequest.App", {
  slug: field(1, string),
  command: optional(2, string),
  display_name: optional(3, string),
  external: optional(4, bool),
  group: optional(5, string),
  healthcheck: optional(6, SubAgentAppHealthcheck),
  hidden: optional(7, bool),
  icon: optional(8, string),
  open_in: optional(9, enumeration({ SLIM_WINDOW: 0, TAB: 1 })),
  order: optional(10, int32),
  share: optional(11, enumeration({ OWNER: 0, AUTHENTICATED: 1, PUBLIC: 2, ORGANIZATION: 3 })),
  subdomain: optional(12, bool),
  url: optional(13, string)
})
export type SubAgentApp = TypeOf<typeof SubAgentApp>

export const CreateSubAgentRequest = agent("CreateSubAgentRequest", {
  name: field(1, string),
  directory: field(2, string),
  architecture: field(3, string),
  operating_system: field(4, string),
  apps: repeated(5, SubAgentApp),
  display_apps: repeated(6, DisplayApp),
  /** Of an agent the template made beforehand. */
  id: optional(7, bytes)
})
export type CreateSubAgentRequest = TypeOf<typeof CreateSubAgentRequest>

export const AppCreationError = agent("CreateSubAgentResponse.AppCreationError", {
  index: field(1, int32),
  field: optional(2, string),
  error: field(3, string)
})
export type AppCreationError = TypeOf<typeof AppCreationError>

export const CreateSubAgentResponse = agent("CreateSubAgentResponse", {
  agent: field(1, SubAgent),
  app_creation_errors: repeated(2, AppCreationError)
})
export type CreateSubAgentResponse = TypeOf<typeof CreateSubAgentResponse>

export const DeleteSubAgentRequest = agent("DeleteSubAgentRequest", { id: field(1, bytes) })
export type DeleteSubAgentRequest = TypeOf<typeof DeleteSubAgentRequest>

export const DeleteSubAgentResponse = agent("DeleteSubAgentResponse", {})

export const ListSubAgentsRequest = agent("ListSubAgentsRequest", {})

export const ListSubAgentsResponse = agent("ListSubAgentsResponse", { agents: repeated(1, SubAgent) })
export type ListSubAgentsResponse = TypeOf<typeof ListSubAgentsResponse>
