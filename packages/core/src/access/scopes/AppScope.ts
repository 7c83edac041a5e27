/**
 * What a token of an OAuth2 app may be used for. A user can end an app's permission at any time, so the app gets nothing by it that would last
 * longer: neither credentials nor rights, unless a scope names them. oauth2-provider.md §12 no. 2.
 */
import type { Grants } from "../decisions/Permission.js"
import { type Action, resourceActions, type ResourceType, resourceTypes } from "../Resource.js"
import { allScope, canonicalScope, expandScopes } from "./Scope.js"

/** The scopes of an app that asks for none: to see what its user works with. */
export const defaultAppScopes: ReadonlyArray<string> = ["organization:read", "template:read", "user:read", "workspace:read"]

/** The actions that give credentials or rights, or decide where the user's data go. */
const entrusted: { readonly [Type in ResourceType]?: ReadonlyArray<Action> } = {
  ai_gateway_key: ["create", "update"],
  ai_provider: ["create", "update"],
  api_key: ["create", "update"],
  assign_org_role: ["assign", "create", "delete", "unassign", "update"],
  assign_role: ["assign", "unassign"],
  chat: ["share"],
  crypto_key: ["create", "delete", "read", "update"],
  deployment_config: ["update"],
  group: ["create", "delete", "update"],
  idpsync_settings: ["update"],
  license: ["create", "delete"],
  mcp_server_config: ["create", "share", "update"],
  notification_template: ["update"],
  oauth2_app: ["create", "delete", "update"],
  oauth2_app_code_token: ["create"],
  oauth2_app_secret: ["create", "delete", "update"],
  organization: ["create", "delete", "update"],
  organization_member: ["create", "delete", "update"],
  provisioner_daemon: ["create", "delete", "update"],
  system: ["create", "delete", "update"],
  // The code of a template gets the session of each workspace's owner
  template: ["create", "update"],
  user: ["create", "delete", "update", "update_personal"],
  user_secret: ["create", "update"],
  webpush_subscription: ["create"],
  workspace: ["create_agent", "share", "update_agent"],
  workspace_dormant: ["create_agent", "share", "update_agent"],
  workspace_proxy: ["create", "delete", "update"]
}

/** Whether an app may do an action only with a scope that names it. */
export const isEntrusted = (action: Action, type: ResourceType): boolean => entrusted[type]?.includes(action) === true

/** What the scope for everything gives an app. */
const ordinary: Grants = Object.fromEntries(
  resourceTypes.map((type): [string, ReadonlyArray<Action>] => [
    type,
    resourceActions[type].filter((action: Action) => !isEntrusted(action, type))
  ])
)

/** The grants of an app's scopes together. The scope for everything names nothing. */
export const expandAppScopes = (names: ReadonlyArray<string>): ReadonlyArray<Grants> => {
  const named = names.filter((name) => canonicalScope(name) !== allScope)
  return [...(named.length < names.length ? [ordinary] : []), ...expandScopes(named)]
}
