/** Subjects for tests, made the way the access module makes them, from role names. */
import {
  type AllowList,
  allScope,
  unrestrictedAllowList,
  expandRoles,
  expandScopes,
  isResourceKind,
  type HeldRole as Held,
  type Role,
  type ShareableWorkspaceOwners,
  type Subject,
  subjectOf
} from "../../../src/access/index.js"
import type { HeldRole, MatrixRow } from "./matrix.js"

const entry = (text: string): AllowList => {
  const [type = "", id = ""] = text.split(":")
  return isResourceKind(type) ? [{ type, id }] : []
}

const held = (name: HeldRole, mode: (org: string) => ShareableWorkspaceOwners, options: MatrixRow["options"]): ReadonlyArray<Held> => {
  if (typeof name !== "string") {
    const role: Role = { name: name.name, display_name: "", allow: name.allow ?? {}, deny: name.deny ?? {} }
    return [{ role, organizationId: name.org }]
  }
  const [role = "", organizationId] = name.split(":")
  const lookup = organizationId === undefined ? { options } : { organizationId, shareMode: mode(organizationId), options }
  return expandRoles([role], lookup).map((role) => ({ role, organizationId }))
}

/** The subject of a row: exactly the roles it names, nothing implied. */
export const matrixSubject = (row: Pick<MatrixRow, "roles" | "groups" | "scopes" | "allow" | "options" | "mode">): Subject =>
  subjectOf({
    kind: "user",
    id: "u1",
    roles: row.roles.flatMap((name) => held(name, (org) => (org === "org1" ? (row.mode ?? "everyone") : "everyone"), row.options)),
    groups: row.groups ?? [],
    scope: expandScopes(row.scopes ?? [allScope]),
    allowList: row.allow === undefined ? unrestrictedAllowList : entry(row.allow),
    options: row.options ?? {}
  })
