/** The evaluation of all of a subject's permissions on one action and type. The single check and the list predicate are decided by it. */
import { allowedIds } from "../scopes/AllowList.js"
import { vote, type Vote } from "./Permission.js"
import { aclTypes, isAction, isResourceKind } from "../Resource.js"
import type { Level, Role } from "../roles/Role.js"
import { aclsCount } from "../roles/RoleOptions.js"
import type { Subject } from "../actors/Subject.js"

export interface Evaluation {
  readonly site: Vote
  /** On own objects without an organization. */
  readonly user: Vote
  /** On every object of the organization, for every organization of the subject. */
  readonly org: ReadonlyMap<string, Vote>
  /** On own objects of the organization, for every organization of the subject. */
  readonly member: ReadonlyMap<string, Vote>
  /** The best vote among the organizations; 0 without any. */
  readonly anyOrg: Vote
  readonly anyMember: Vote
  /** Whether the credential's scopes cover the action. */
  readonly scope: boolean
  /** The objects the credential's allow list lets through. */
  readonly ids: "all" | ReadonlySet<string>
  /** Whether ACLs of objects of the type count. */
  readonly acl: boolean
}

/** Evaluations are made once per subject, action and type. Unknown actions and types are not kept, so callers cannot fill the memory. */
const evaluated = new WeakMap<Subject, Map<string, Evaluation>>()

/** The evaluation of a subject, for any text as action and type. */
export const evaluate = (subject: Subject, action: string, type: string): Evaluation => {
  const key = `${type}:${action}`
  let evaluations = evaluated.get(subject)
  const kept = evaluations?.get(key)
  if (kept !== undefined) return kept
  const evaluation = count(subject, action, type)
  if (isAction(action) && isResourceKind(type)) {
    if (evaluations === undefined) evaluated.set(subject, (evaluations = new Map()))
    evaluations.set(key, evaluation)
  }
  return evaluation
}

const count = (subject: Subject, action: string, type: string): Evaluation => {
  const votes = (roles: ReadonlyArray<Role>, level: Level): Vote => {
    let result: Vote = 0
    for (const role of roles) {
      const cast = vote(role.allow[level], role.deny[level], type, action)
      if (cast === -1) return -1
      if (cast === 1) result = 1
    }
    return result
  }
  const roles = subject.roles.map(({ role }) => role)
  const org = new Map<string, Vote>()
  const member = new Map<string, Vote>()
  for (const [organizationId, held] of subject.organizations) {
    org.set(organizationId, votes(held, "org"))
    member.set(organizationId, votes(held, "member"))
  }
  return {
    site: votes(roles, "site"),
    user: votes(roles, "user"),
    org,
    member,
    anyOrg: best(org.values()),
    anyMember: best(member.values()),
    scope: subject.scope.some((grants) => vote(grants, undefined, type, action) === 1),
    ids: allowedIds(subject.allowList, type),
    acl: aclTypes.some((each) => each === type && aclsCount(each, subject.options))
  }
}

const best = (votes: Iterable<Vote>): Vote => {
  const cast = Array.from(votes)
  return cast.includes(1) ? 1 : cast.includes(0) || cast.length === 0 ? 0 : -1
}
