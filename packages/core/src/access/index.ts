/** The authorization engine: which subject may do which action on which object. */
export * as Access from "./Access.js"
export * as AccessObjects from "./AccessObjects.js"
export * from "./AclRoles.js"
export {
  type AccessObject,
  type Acl,
  aclTypes,
  Action,
  type ActionOn,
  actionsOf,
  isAction,
  isResourceKind,
  isValidPermission,
  resourceActions,
  ResourceKind,
  type ResourceType,
  resourceTypes
} from "./Resource.js"
export * from "./actors/Actor.js"
export * from "./actors/Subject.js"
export * from "./actors/SystemActor.js"
export * from "./checks/AccessChecks.js"
export * from "./checks/Authcheck.js"
export * from "./checks/FetchableObjects.js"
export * from "./decisions/AccessPredicate.js"
export { CheckRecorder, makeRecording, type Recording } from "./decisions/CheckRecorder.js"
export { decide, permits, prebuildsUserId } from "./decisions/Decision.js"
export { type KeptDecisions, keptDecisions } from "./decisions/KeptDecisions.js"
export { type Grants, Permission, toPermissions } from "./decisions/Permission.js"
export * from "./roles/Assignment.js"
export * from "./roles/CustomRole.js"
export * from "./roles/OrganizationRoles.js"
export * from "./roles/OrganizationSystemRoles.js"
export * from "./roles/Role.js"
export type { RoleOptions } from "./roles/RoleOptions.js"
export * from "./roles/Roles.js"
export { impliedSiteRole, siteRoles } from "./roles/SiteRoles.js"
export * from "./scopes/AllowList.js"
export { defaultAppScopes, expandAppScopes, isEntrusted } from "./scopes/AppScope.js"
export * from "./scopes/Scope.js"
export * from "./streams/RightsChanges.js"
export * from "./streams/StreamRights.js"
export { layer, type Stored, workers } from "./layer.js"
