/** The authorization engine: which subject may do which action on which object. */
export * as Access from "./Access.js"
export * from "./AccessChecks.js"
export * as AccessObjects from "./AccessObjects.js"
export * from "./AccessPredicate.js"
export * from "./AclRoles.js"
export * from "./Actor.js"
export * from "./AllowList.js"
export { defaultAppScopes, expandAppScopes, isEntrusted } from "./AppScope.js"
export * from "./Assignment.js"
export * from "./Authcheck.js"
export { CheckRecorder, makeRecording, type Recording } from "./CheckRecorder.js"
export * from "./CustomRole.js"
export { decide, permits, prebuildsUserId } from "./Decision.js"
export * from "./FetchableObjects.js"
export { type KeptDecisions, keptDecisions } from "./KeptDecisions.js"
export * from "./OrganizationRoles.js"
export * from "./OrganizationSystemRoles.js"
export { fromPermissions, type Grants, Permission, toPermissions } from "./Permission.js"
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
export * from "./RightsChanges.js"
export * from "./Role.js"
export type { RoleOptions } from "./RoleOptions.js"
export * from "./Roles.js"
export * from "./Scope.js"
export { impliedSiteRole, siteRoles } from "./SiteRoles.js"
export * from "./StreamRights.js"
export * from "./Subject.js"
export * from "./SystemActor.js"
export { layer, type Stored, workers } from "./layer.js"
