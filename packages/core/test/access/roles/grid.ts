/** Every role against every action on every type, on things of one's own and others', here and elsewhere. authorization.md §2. */
import {
  type AccessObject,
  type Action,
  actionsOf,
  type Grants,
  organizationRoles,
  organizationSystemRole,
  organizationSystemRoles,
  type ResourceType,
  resourceTypes,
  type Role,
  siteRoles
} from "../../../src/access/index.js"

/** A role as a user holds it: everywhere, or in one organization. */
export interface GridRole {
  readonly title: string
  readonly role: Role
  readonly organizationId?: string
}

export interface GridRow {
  readonly relation: Relation
  readonly object: AccessObject
  readonly action: Action
}

const relations = {
  own: { isOwn: true, at: undefined },
  "other's": { isOwn: false, at: undefined },
  "own here": { isOwn: true, at: "here" },
  "other's here": { isOwn: false, at: "here" },
  "own elsewhere": { isOwn: true, at: "elsewhere" },
  "other's elsewhere": { isOwn: false, at: "elsewhere" }
} as const
type Relation = keyof typeof relations
const relationNames: ReadonlyArray<Relation> = ["own", "other's", "own here", "other's here", "own elsewhere", "other's elsewhere"]

/** The owners and organizations of objects: the subject, another user, the organization its roles are in, and another one. */
export interface Places {
  readonly self: string
  readonly other: string
  readonly here: string
  readonly elsewhere: string
}

const objectAt = (type: ResourceType, relation: Relation, places: Places): AccessObject => {
  const { at, isOwn } = relations[relation]
  return { type, owner: isOwn ? places.self : places.other, org: at === undefined ? undefined : places[at] }
}

/** All rows. */
export const gridRows = (places: Places): ReadonlyArray<GridRow> =>
  resourceTypes.flatMap((type) =>
    relationNames.flatMap((relation) => actionsOf(type).map((action) => ({ relation, object: objectAt(type, relation, places), action })))
  )

export const gridRoles = (organizationId: string): ReadonlyArray<GridRole> => [
  ...siteRoles.map((role) => ({ title: role.name, role })),
  ...organizationRoles.map((role) => ({ title: role.name, role, organizationId })),
  ...organizationSystemRoles.flatMap((name) =>
    (["everyone", "service_accounts", "none"] as const).map((mode) => ({
      title: `${name} where ${mode.replace("_", " ")} may share`,
      role: organizationSystemRole(name, mode),
      organizationId
    }))
  )
]

const lists = (grants: Grants | undefined, type: ResourceType, action: Action): boolean =>
  [grants?.[type], grants?.["*"]].some((actions) => actions !== undefined && (actions.includes(action) || actions.includes("*")))

/** What the role's table says of a row, read level by level; nothing else is held. */
export const tableAllows = ({ role: { allow, deny } }: GridRole, { action, object: { type }, relation }: GridRow): boolean => {
  const granted = (level: "site" | "user" | "org" | "member") => lists(allow[level], type, action) && !lists(deny[level], type, action)
  if (granted("site")) return true
  switch (relation) {
    case "own":
      return granted("user")
    case "own here":
      return granted("org") || (granted("member") && !lists(deny.org, type, action))
    case "other's here":
      return granted("org")
    default:
      return false
  }
}
