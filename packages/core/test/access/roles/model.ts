/** A second implementation of the decision, as the specification words it, to compare the engine with. authorization.md §1.3. */
import type { AccessObject, Grants, HeldRole, Level, Subject } from "../../../src/access/index.js"

type Entry = { readonly negate: boolean; readonly type: string; readonly action: string }

const entries = (grants: Grants | undefined, negate: boolean): ReadonlyArray<Entry> =>
  Object.entries(grants ?? {}).flatMap(([type, actions]) => (actions ?? []).map((action) => ({ negate, type, action })))

const permissions = (roles: ReadonlyArray<HeldRole>, level: Level): ReadonlyArray<Entry> =>
  roles.flatMap(({ role }) => [...entries(role.allow[level], false), ...entries(role.deny[level], true)])

const vote = (list: ReadonlyArray<Entry>, type: string, action: string): number => {
  const matching = list.filter((entry) => (entry.type === type || entry.type === "*") && (entry.action === action || entry.action === "*"))
  return matching.some(({ negate }) => negate) ? -1 : matching.length > 0 ? 1 : 0
}

export const modelDecision = (subject: Subject, action: string, object: AccessObject): boolean => {
  const { type } = object
  const of = (organization: string, level: Level) =>
    vote(
      permissions(
        subject.roles.filter(({ organizationId }) => organizationId === organization),
        level
      ),
      type,
      action
    )
  const memberships = Array.from(new Set(subject.roles.flatMap(({ organizationId }) => organizationId ?? [])))
  const owned = object.owner === subject.id
  const site = vote(permissions(subject.roles, "site"), type, action)
  const user = owned && !object.org && !object.anyOrg ? vote(permissions(subject.roles, "user"), type, action) : 0
  const isIn = memberships.includes(object.org ?? "")
  const org = object.anyOrg
    ? memberships.length === 0
      ? 0
      : Math.max(...memberships.map((each) => of(each, "org")))
    : isIn && of(object.org ?? "", "org") === 1
      ? 1
      : 0
  const mem = object.anyOrg
    ? owned && memberships.length > 0
      ? Math.max(...memberships.map((each) => of(each, "member")))
      : 0
    : owned && isIn && of(object.org ?? "", "member") === 1 && of(object.org ?? "", "org") !== -1
      ? 1
      : 0
  const roleAllow = site === 1 || (site !== -1 && user === 1) || (site !== -1 && org === 1) || (site !== -1 && org !== -1 && mem === 1)

  const lists = (actions: ReadonlyArray<string> | undefined) => actions !== undefined && (actions.includes(action) || actions.includes("*"))
  const isMember = object.anyOrg ? memberships.length > 0 : isIn
  // §1.4: with the switch set, objects of these types are built without ACLs
  const stripped = (type === "workspace" || type === "task") && subject.options.disableWorkspaceSharing
  const aclAllow =
    !stripped &&
    isMember &&
    (lists(object.aclUser?.[subject.id]) ||
      Array.from(subject.groups).some((group) => lists(object.aclGroup?.[group])) ||
      (!object.anyOrg && lists(object.aclGroup?.[object.org ?? ""])))

  const inScope = subject.scope.some((grants) => vote(entries(grants, false), type, action) === 1)
  const inAllowList = subject.allowList.some(
    (entry) => (entry.type === "*" || entry.type === type) && (entry.id === "*" || entry.id === object.id)
  )
  return (roleAllow || aclAllow) && inScope && inAllowList
}
