/**
 * The decision on many objects at once: a condition on their columns, which stores compile to SQL. For every stored object of the type,
 * `evaluatePredicate(listPredicate(subject, action, type), object) === decide(subject, action, object)`.
 */
import { Data } from "effect"
import { evaluate } from "./Evaluation.js"
import { type AccessObject, aclGrants, type Action, type ResourceType } from "../Resource.js"
import type { Subject } from "../actors/Subject.js"

/** A condition on an object. `True` and `False` only ever stand alone, and no list in it is empty. */
export type AccessPredicate = Data.TaggedEnum<{
  True: {}
  False: {}
  And: { readonly predicates: ReadonlyArray<AccessPredicate> }
  Or: { readonly predicates: ReadonlyArray<AccessPredicate> }
  /** It belongs to one of these organizations. */
  OrgIn: { readonly organizationIds: ReadonlyArray<string> }
  /** It belongs to no organization. */
  OrgIsNull: {}
  OwnerIs: { readonly userId: string }
  IdIn: { readonly ids: ReadonlyArray<string> }
  /** Its user ACL lists the action, or `*`, for the user. */
  AclUserHas: { readonly userId: string; readonly action: Action }
  /** Its group ACL lists the action, or `*`, for one of the groups. */
  AclGroupHas: { readonly groupIds: ReadonlyArray<string>; readonly action: Action }
  /** Its group ACL lists the action, or `*`, for the group whose id is the object's own organization. */
  AclEveryoneHas: { readonly action: Action }
}>

export const AccessPredicate = Data.taggedEnum<AccessPredicate>()

const { And, Or, OrgIn, IdIn, OwnerIs, OrgIsNull, AclUserHas, AclGroupHas, AclEveryoneHas } = AccessPredicate
const True = AccessPredicate.True()
const False = AccessPredicate.False()

/** Which objects of the type the subject may do the action to. */
export const listPredicate = (subject: Subject, action: Action, type: ResourceType): AccessPredicate => {
  const evaluation = evaluate(subject, action, type)
  if (!evaluation.scope) return False
  const named = evaluation.ids === "all" ? True : oneOf(evaluation.ids, (ids) => IdIn({ ids }))
  if (evaluation.site === 1) return named

  const own = OwnerIs({ userId: subject.id })
  const open = evaluation.site === 0
  const whole = open ? organizations(subject, (id) => evaluation.org.get(id) === 1) : []
  const partly = open ? organizations(subject, (id) => evaluation.org.get(id) === 0 && evaluation.member.get(id) === 1) : []
  // Where the organization level already allows, an ACL adds nothing
  const shared = evaluation.acl ? organizations(subject, (id) => !whole.includes(id)) : []
  const acl = or(
    AclUserHas({ userId: subject.id, action }),
    oneOf(subject.groups, (groupIds) => AclGroupHas({ groupIds, action })),
    AclEveryoneHas({ action })
  )
  return and(
    or(
      open && evaluation.user === 1 ? and(own, OrgIsNull()) : False,
      inOrganizations(whole),
      and(own, inOrganizations(partly)),
      and(inOrganizations(shared), acl)
    ),
    named
  )
}

const organizations = (subject: Subject, which: (id: string) => boolean): ReadonlyArray<string> =>
  Array.from(subject.organizations.keys()).filter(which)

const inOrganizations = (organizationIds: ReadonlyArray<string>): AccessPredicate =>
  oneOf(organizationIds, (ids) => OrgIn({ organizationIds: ids }))

const oneOf = (ids: Iterable<string>, of: (ids: ReadonlyArray<string>) => AccessPredicate): AccessPredicate => {
  const list = Array.from(ids).toSorted()
  return list.length === 0 ? False : of(list)
}

const and = (...predicates: ReadonlyArray<AccessPredicate>): AccessPredicate => {
  const needed = predicates.filter(({ _tag }) => _tag !== "True")
  if (needed.some(({ _tag }) => _tag === "False")) return False
  return joined(needed, True, (predicates) => And({ predicates }))
}

const or = (...predicates: ReadonlyArray<AccessPredicate>): AccessPredicate => {
  const possible = predicates.filter(({ _tag }) => _tag !== "False")
  if (possible.some(({ _tag }) => _tag === "True")) return True
  return joined(possible, False, (predicates) => Or({ predicates }))
}

const joined = (
  predicates: ReadonlyArray<AccessPredicate>,
  none: AccessPredicate,
  several: (predicates: ReadonlyArray<AccessPredicate>) => AccessPredicate
): AccessPredicate => {
  const [first, ...rest] = predicates
  return first === undefined ? none : rest.length === 0 ? first : several(predicates)
}

/** Whether the predicate holds for the object. */
export const evaluatePredicate = (predicate: AccessPredicate, object: AccessObject): boolean =>
  AccessPredicate.$match(predicate, {
    True: () => true,
    False: () => false,
    And: ({ predicates }) => predicates.every((each) => evaluatePredicate(each, object)),
    Or: ({ predicates }) => predicates.some((each) => evaluatePredicate(each, object)),
    OrgIn: ({ organizationIds }) => organizationIds.includes(object.org ?? ""),
    OrgIsNull: () => !object.org,
    OwnerIs: ({ userId }) => object.owner === userId,
    IdIn: ({ ids }) => ids.includes(object.id ?? ""),
    AclUserHas: ({ userId, action }) => aclGrants(object.aclUser, userId, action),
    AclGroupHas: ({ groupIds, action }) => groupIds.some((id) => aclGrants(object.aclGroup, id, action)),
    AclEveryoneHas: ({ action }) => aclGrants(object.aclGroup, object.org ?? "", action)
  })
