/** The votes of everything a subject holds on one action and type: what both the single check and the list predicate are decided by. */
import { allowedIds } from "./AllowList.js"
import { vote, type Vote } from "./Permission.js"
import { aclTypes, isAction, isResourceKind } from "./Resource.js"
import type { Level, Role } from "./Role.js"
import { aclsCount } from "./RoleOptions.js"
import type { Subject } from "./Subject.js"

export interface Ballot {
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

/** Ballots are counted once per subject, action and type. Texts that name nothing known are not kept, so callers cannot fill the memory. */
const counted = new WeakMap<Subject, Map<string, Ballot>>()

/** The ballot of a subject, for any text as action and type. */
export const ballotOf = (subject: Subject, action: string, type: string): Ballot => {
  const key = `${type}:${action}`
  let ballots = counted.get(subject)
  const kept = ballots?.get(key)
  if (kept !== undefined) return kept
  const ballot = count(subject, action, type)
  if (isAction(action) && isResourceKind(type)) {
    if (ballots === undefined) counted.set(subject, (ballots = new Map()))
    ballots.set(key, ballot)
  }
  return ballot
}

const count = (subject: Subject, action: string, type: string): Ballot => {
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
