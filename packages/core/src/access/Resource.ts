/**
 * The vocabulary of permissions: the resource types, the actions valid on each, and an object as the decision sees it. authorization.md
 * §1.1.
 */
import { Schema, Struct } from "effect"
import { nearest } from "../platform/wiring/HostOptions.js"

export const actions = [
  "application_connect",
  "assign",
  "create",
  "create_agent",
  "delete",
  "delete_agent",
  "read",
  "read_personal",
  "share",
  "ssh",
  "start",
  "stop",
  "unassign",
  "update",
  "update_agent",
  "update_personal",
  "use",
  "view_insights"
] as const

/** An action on an object. */
export const Action = Schema.Literal(...actions)
export type Action = typeof Action.Type

const workspaceActions = [
  "application_connect",
  "create",
  "create_agent",
  "delete",
  "delete_agent",
  "read",
  "share",
  "ssh",
  "start",
  "stop",
  "update",
  "update_agent"
] as const
const crud = ["create", "delete", "read", "update"] as const

/** The actions that exist on each resource type. */
export const resourceActions = {
  ai_gateway_key: crud,
  ai_model_price: ["read", "update"],
  ai_provider: crud,
  ai_seat: ["create", "read"],
  aibridge_interception: ["create", "read", "update"],
  api_key: crud,
  assign_org_role: ["assign", "create", "delete", "read", "unassign", "update"],
  assign_role: ["assign", "read", "unassign"],
  audit_log: ["create", "read"],
  boundary_log: ["create", "delete", "read"],
  boundary_usage: ["delete", "read", "update"],
  chat: ["create", "delete", "read", "share", "update"],
  connection_log: ["read", "update"],
  crypto_key: crud,
  debug_info: ["read"],
  deployment_config: ["read", "update"],
  deployment_stats: ["read"],
  file: ["create", "read"],
  group: crud,
  group_member: ["read"],
  idpsync_settings: ["read", "update"],
  inbox_notification: ["create", "read", "update"],
  license: ["create", "delete", "read"],
  mcp_server_config: ["create", "delete", "read", "share", "update"],
  notification_message: crud,
  notification_preference: ["read", "update"],
  notification_template: ["read", "update"],
  oauth2_app: crud,
  oauth2_app_code_token: ["create", "delete", "read"],
  oauth2_app_secret: crud,
  organization: crud,
  organization_member: crud,
  prebuilt_workspace: ["delete", "update"],
  provisioner_daemon: crud,
  provisioner_jobs: ["create", "read", "update"],
  replicas: ["read"],
  system: crud,
  tailnet_coordinator: crud,
  task: crud,
  template: ["create", "delete", "read", "update", "use", "view_insights"],
  usage_event: ["create", "read", "update"],
  user: ["create", "delete", "read", "read_personal", "update", "update_personal"],
  user_secret: crud,
  user_skill: crud,
  webpush_subscription: ["create", "delete", "read"],
  workspace: workspaceActions,
  workspace_agent_devcontainers: ["create"],
  workspace_agent_resource_monitor: ["create", "read", "update"],
  workspace_build_orchestration: crud,
  workspace_dormant: workspaceActions,
  workspace_proxy: crud
} as const satisfies Record<string, ReadonlyArray<Action>>

export type ResourceType = keyof typeof resourceActions

/** The actions that exist on a resource type. */
export type ActionOn<Type extends ResourceType> = (typeof resourceActions)[Type][number]

/** Every resource type, in alphabetical order. */
export const resourceTypes: ReadonlyArray<ResourceType> = Struct.keys(resourceActions)

/** A resource type, or `*` for all of them: what permissions and allow lists name. */
export const ResourceKind = Schema.Literal("*", ...resourceTypes)
export type ResourceKind = typeof ResourceKind.Type

const actionSet: ReadonlySet<string> = new Set(actions)
const kindSet: ReadonlySet<string> = new Set(["*", ...resourceTypes])

export const isAction = (text: string): text is Action => actionSet.has(text)
export const isResourceKind = (text: string): text is ResourceKind => kindSet.has(text)

/** The actions that exist on a type; none for a type that does not exist. */
export const actionsOf = (type: string): ReadonlyArray<Action> => byType.get(type) ?? []
const byType = new Map<string, ReadonlyArray<Action>>(Object.entries(resourceActions))

/** Whether the action exists on the type; wildcards do not count. */
export const isValidPermission = (type: string, action: string): boolean => actionsOf(type).some((valid) => valid === action)

/** Actions of the service's own work, which roles, scopes and the interface do not name. */
const internalActions: { readonly [Type in ResourceType]?: ReadonlyArray<Action> } = {
  aibridge_interception: ["delete"],
  deployment_config: ["create", "delete"],
  notification_preference: ["create", "delete"],
  notification_template: ["create", "delete"],
  webpush_subscription: ["update"]
}

const validActions: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  resourceTypes.map((type) => [type, new Set([...actionsOf(type), ...(internalActions[type] ?? [])])])
)

/**
 * Throws for an action that does not exist on the type, where a program names both: it would be refused to every actor. Names that a client of the
 * interface sends are judged as they are.
 */
export const requireAction = (action: string, type: string): void => {
  const valid = validActions.get(type)
  if (valid?.has(action) === true) return
  const known = valid ?? validActions.keys()
  const [wrong, what] = valid === undefined ? [type, "a resource type"] : [action, `an action on ${type}`]
  const meant = nearest(wrong, known)
  throw new TypeError(
    `${JSON.stringify(wrong)} is not ${what}: ${meant === undefined ? `it may be ${[...known].join(", ")}` : `did you mean ${meant}?`}`
  )
}

/** Actions granted on one object by id: of a user, or of a group. `*` stands for every action. */
export type Acl = Readonly<Record<string, ReadonlyArray<string>>>

/** Whether the ACL lists the action, or `*`, for the user or group. */
export const aclGrants = (acl: Acl | null | undefined, id: string, action: string): boolean => {
  const granted = acl && Object.hasOwn(acl, id) ? acl[id] : undefined
  return granted !== undefined && (granted.includes(action) || granted.includes("*"))
}

/** An object as the decision sees it. Every part but the type may be absent; an empty text counts as absent. */
export interface AccessObject<Type extends string = ResourceType> {
  readonly type: Type
  readonly id?: string | null | undefined
  /** The user it belongs to. */
  readonly owner?: string | null | undefined
  /** The organization it belongs to. */
  readonly org?: string | null | undefined
  /** Asks about any organization of the subject; then `org` is ignored. */
  readonly anyOrg?: boolean | undefined
  readonly aclUser?: Acl | null | undefined
  /** An entry whose group id is the organization's id stands for every member of it (the group Everyone). */
  readonly aclGroup?: Acl | null | undefined
}

/** The types whose objects carry ACLs. A group's only entry lets its own members read it. */
export const aclTypes = [
  "chat",
  "group",
  "mcp_server_config",
  "task",
  "template",
  "workspace"
] as const satisfies ReadonlyArray<ResourceType>
