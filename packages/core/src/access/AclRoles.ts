/** ACLs as people change and see them: one role for each user and group, where rows store actions. authorization.md §12. */
import type { Acl } from "./Resource.js"
import type { Validation } from "../platform/Errors.js"
import { parse, type Uuid } from "../platform/texts/Uuid.js"

/** The actions of each role of a type of object. */
export type RoleActions<Role extends string> = Readonly<Record<Role, ReadonlyArray<string>>>

const isSameSet = (left: ReadonlyArray<string>, right: ReadonlyArray<string>): boolean =>
  new Set(left).size === new Set(right).size && left.every((action) => right.includes(action))

/** The role whose actions these are; empty if no role has them. */
export const roleIn = <Role extends string>(roles: RoleActions<Role>, actions: ReadonlyArray<string>): Role | "" => {
  for (const role in roles) if (isSameSet(actions, roles[role])) return role
  return ""
}

/** The actions that users or groups are to have; null takes what they had. */
export type AclChange = ReadonlyMap<Uuid, ReadonlyArray<string> | null>

/** Reads a change of roles and collects all of its errors. An empty role removes the entry. */
export const readAclChange = <Role extends string>(
  field: string,
  asked: Readonly<Record<string, string>>,
  roles: RoleActions<Role>
): { readonly change: AclChange; readonly faults: ReadonlyArray<Validation> } => {
  const known = new Map<string, ReadonlyArray<string> | null>([["", null], ...Object.entries<ReadonlyArray<string>>(roles)])
  const change = new Map<Uuid, ReadonlyArray<string> | null>()
  const faults: Array<Validation> = []
  for (const [key, role] of Object.entries(asked)) {
    const id = parse(key)
    const actions = known.get(role)
    if (id === undefined) faults.push({ field, detail: `${quoted(key)} is not a UUID` })
    if (actions === undefined)
      faults.push({ field, detail: `${quoted(role)} is not a role: must be one of ${Object.keys(roles).join(", ")}` })
    if (id !== undefined && actions !== undefined) change.set(id, actions)
  }
  return { change, faults }
}

/** The ids that a change gives something to. */
export const grantedIds = (change: AclChange): ReadonlyArray<Uuid> =>
  Array.from(change).flatMap(([id, actions]) => (actions === null ? [] : [id]))

/** An ACL after a change; whom it does not name keeps what it had. */
export const changedAcl = (acl: Acl, change: AclChange): Acl => {
  const entries = new Map<string, ReadonlyArray<string>>(Object.entries(acl))
  for (const [id, actions] of change) {
    if (actions === null) entries.delete(id)
    else entries.set(id, actions)
  }
  return Object.fromEntries(entries)
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 64))
