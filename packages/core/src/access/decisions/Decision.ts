/** The decision on a single object. authorization.md §1.3. */
import { type Evaluation, evaluate } from "./Evaluation.js"
import { type AccessObject, aclGrants, type ActionOn, requireAction, type ResourceType } from "../Resource.js"
import type { Subject } from "../actors/Subject.js"

/** The system user that owns unclaimed prebuilt workspaces. authorization.md §1.5. */
export const prebuildsUserId = "c42fdf75-3097-471c-8c33-fb52454d81c0"

/** Whether the subject may do the action to the object. Throws for an action that does not exist on the object's type. */
export const decide = <Type extends ResourceType>(subject: Subject, action: ActionOn<Type>, object: AccessObject<Type>): boolean => {
  requireAction(action, object.type)
  return judge(subject, action, object)
}

/** As `decide`, for any text as action and type: what names nothing matches only wildcards. */
export const judge = (subject: Subject, action: string, object: AccessObject<string>): boolean => {
  const evaluation = evaluate(subject, action, object.type)
  return (
    evaluation.scope &&
    (evaluation.ids === "all" || evaluation.ids.has(object.id ?? "")) &&
    (byRoles(evaluation, subject, object) || (evaluation.acl && byAcl(subject, action, object)))
  )
}

/**
 * As `decide`, with the second chance of prebuilt workspaces: an actor who may not update or delete one as a workspace may be allowed to as
 * a prebuilt workspace.
 */
export const permits = <Type extends ResourceType>(subject: Subject, action: ActionOn<Type>, object: AccessObject<Type>): boolean => {
  requireAction(action, object.type)
  return judgeWithPrebuilt(subject, action, object)
}

/** As `permits`, for any text as action and type. */
export const judgeWithPrebuilt = (subject: Subject, action: string, object: AccessObject<string>): boolean =>
  judge(subject, action, object) ||
  (object.type === "workspace" &&
    object.owner === prebuildsUserId &&
    (action === "update" || action === "delete") &&
    judge(subject, action, { type: "prebuilt_workspace", id: object.id, org: object.org, owner: object.owner }))

const byRoles = (evaluation: Evaluation, subject: Subject, object: AccessObject<string>): boolean => {
  if (evaluation.site !== 0) return evaluation.site === 1
  const owned = object.owner === subject.id
  if (object.anyOrg) return evaluation.anyOrg === 1 || (owned && evaluation.anyOrg === 0 && evaluation.anyMember === 1)
  if (!object.org) return owned && evaluation.user === 1
  const org = evaluation.org.get(object.org)
  return org === 1 || (owned && org === 0 && evaluation.member.get(object.org) === 1)
}

const byAcl = (subject: Subject, action: string, { org, anyOrg, aclUser, aclGroup }: AccessObject<string>): boolean => {
  if (anyOrg ? subject.organizations.size === 0 : !org || !subject.organizations.has(org)) return false
  if (aclGrants(aclUser, subject.id, action)) return true
  if (!aclGroup) return false
  if (!anyOrg && org && aclGrants(aclGroup, org, action)) return true
  for (const group of subject.groups) if (aclGrants(aclGroup, group, action)) return true
  return false
}
