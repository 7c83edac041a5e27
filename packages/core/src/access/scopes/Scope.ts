/** Scopes: what a credential may be used for. A scope never adds rights, it only narrows those of its user. authorization.md §3. */
import { isAction, isResourceKind, isValidPermission, resourceActions } from "../Resource.js"
import { allActionsExceptOn, type Grants, vote } from "../decisions/Permission.js"

/** Everything: the scope of sessions and of keys made without scopes. */
export const allScope = "coder:all"

/** Everything but users' own data. Internal, for agents; no key can ask for it. */
export const noUserDataScope = "no_user_data"

/** Spellings older clients send. */
const aliases: ReadonlyMap<string, string> = new Map([
  ["all", allScope],
  ["application_connect", "coder:application_connect"]
])

const named: ReadonlyMap<string, Grants> = new Map<string, Grants>([
  [allScope, { "*": ["*"] }],
  ["coder:apikeys.manage_self", { api_key: resourceActions.api_key }],
  ["coder:application_connect", { workspace: ["application_connect"] }],
  ["coder:templates.author", { file: ["create", "read"], template: ["create", "delete", "read", "update", "view_insights"] }],
  ["coder:templates.build", { file: ["create", "read"], provisioner_jobs: ["read"], template: ["read"] }],
  ["coder:workspaces.access", { organization_member: ["read"], template: ["read"], workspace: ["application_connect", "read", "ssh"] }],
  [
    "coder:workspaces.create",
    { organization_member: ["read"], template: ["read", "use"], workspace: ["create", "read", "start", "stop", "update"] }
  ],
  ["coder:workspaces.delete", { organization_member: ["read"], template: ["read", "use"], workspace: ["delete", "read"] }],
  ["coder:workspaces.operate", { organization_member: ["read"], template: ["read"], workspace: ["read", "start", "stop", "update"] }]
])

const internal: ReadonlyMap<string, Grants> = new Map([[noUserDataScope, allActionsExceptOn("user")]])

/** The pairs a key can be limited to, by type. */
const external = {
  api_key: ["*", "create", "delete", "read", "update"],
  file: ["*", "create", "read"],
  organization: ["*", "delete", "read", "update"],
  task: ["*", "create", "delete", "read", "update"],
  template: ["*", "create", "delete", "read", "update", "use"],
  user: ["*", "read", "read_personal", "update_personal"],
  user_secret: ["*", "create", "delete", "read", "update"],
  user_skill: ["*", "create", "delete", "read", "update"],
  workspace: ["*", "application_connect", "create", "delete", "read", "ssh", "start", "stop", "update"]
} as const satisfies Grants

/** The names a key can be made with, aliases left out, in ascending byte order: what GET /auth/scopes answers. */
export const externalScopes: ReadonlyArray<string> = [
  ...named.keys(),
  ...Object.entries(external).flatMap(([type, granted]) => granted.map((action) => `${type}:${action}`))
].toSorted()

const requestable = new Set(externalScopes)

/** The stored form of a scope's name: aliases become what they stand for. */
export const canonicalScope = (name: string): string => aliases.get(name) ?? name

/** Whether a key can be made with the scope, by either spelling. */
export const isExternalScope = (name: string): boolean => requestable.has(canonicalScope(name))

/** The grants of a scope; undefined for an unknown name. */
export const scopeGrants = (name: string): Grants | undefined => {
  const canonical = canonicalScope(name)
  return named.get(canonical) ?? internal.get(canonical) ?? lowLevel(canonical)
}

const lowLevel = (name: string): Grants | undefined => {
  const [type = "", action = "", ...rest] = name.split(":")
  if (rest.length > 0 || !isResourceKind(type)) return undefined
  if (action === "*") return type === "*" ? undefined : { [type]: ["*"] }
  return isAction(action) && isValidPermission(type, action) ? { [type]: [action] } : undefined
}

/** The grants of several scopes together; names that mean nothing grant nothing. */
export const expandScopes = (names: Iterable<string>): ReadonlyArray<Grants> =>
  Array.from(new Set(names), scopeGrants).filter((grants) => grants !== undefined)

/** Whether grants together contain all that a scope grants; never for a name that means nothing. */
export const coversScope = (granted: ReadonlyArray<Grants>, name: string): boolean => {
  const needed = scopeGrants(name)
  return (
    needed !== undefined &&
    Object.entries(needed).every(([type, actions]) =>
      actions.every((action) => granted.some((grants) => vote(grants, undefined, type, action) === 1))
    )
  )
}

/** The deprecated single `scope` of a key with these scopes. identity.md §3. */
export const legacyScope = (scopes: ReadonlyArray<string>): "application_connect" | "all" | "" =>
  scopes.includes("coder:application_connect") ? "application_connect" : scopes.includes(allScope) ? "all" : ""
