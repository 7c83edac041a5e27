/** Permissions as data: which actions on which types, allowed or denied, and how a list of them votes. authorization.md §1.3. */
import { Schema, Struct } from "effect"
import { Action, type ResourceKind, ResourceKind as ResourceKindSchema, type ResourceType, resourceTypes } from "../Resource.js"

/** A permission as the wire shows it. */
export class Permission extends Schema.Class<Permission>("Permission")({
  negate: Schema.Boolean,
  resource_type: ResourceKindSchema,
  action: Schema.Union(Action, Schema.Literal("*"))
}) {}

/** Actions by type; `*` covers every type, or every action of a type. */
export type Grants = { readonly [Type in ResourceKind]?: ReadonlyArray<Action | "*"> }

/** Every action on every type but the given ones. */
export const allActionsExceptOn = (...excluded: ReadonlyArray<ResourceType>): Grants =>
  Object.fromEntries(resourceTypes.filter((type) => !excluded.includes(type)).map((type): [string, ReadonlyArray<"*">] => [type, ["*"]]))

/** Against, silent or for. */
export type Vote = -1 | 0 | 1

const lists = (grants: Grants | undefined, type: string, action: string): boolean => {
  if (grants === undefined) return false
  const table: Readonly<Record<string, ReadonlyArray<string> | undefined>> = grants
  // A type can be any text of a caller: only own keys may answer
  const named = Object.hasOwn(table, type) ? table[type] : undefined
  return includes(named, action) || includes(table["*"], action)
}

const includes = (granted: ReadonlyArray<string> | undefined, action: string): boolean =>
  granted !== undefined && (granted.includes(action) || granted.includes("*"))

/** A deny beats every allow; no match is silence. */
export const vote = (allow: Grants | undefined, deny: Grants | undefined, type: string, action: string): Vote =>
  lists(deny, type, action) ? -1 : lists(allow, type, action) ? 1 : 0

/** The permission list of a table, sorted by type, then action. */
export const toPermissions = (grants: Grants | undefined, negate = false): ReadonlyArray<Permission> =>
  Struct.keys(grants ?? {})
    .toSorted()
    .flatMap((resource_type) =>
      // Stored permissions are valid, so they are not checked again: lists of roles have tens of thousands
      (grants?.[resource_type] ?? []).toSorted().map((action) => new Permission({ negate, resource_type, action }, true))
    )
