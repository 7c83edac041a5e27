/** Random subjects and objects of a universe so small that rules meet: two users, three organizations, two groups. */
import * as fc from "fast-check"
import {
  type AccessObject,
  type AllowList,
  type AllowListEntry,
  expandScopes,
  externalScopes,
  expandRoles,
  type Grants,
  type HeldRole,
  organizationRoles,
  organizationSystemRole,
  organizationSystemRoles,
  type Role,
  type ShareableWorkspaceOwners,
  siteRoles,
  type Subject,
  subjectOf
} from "../../src/access/index.js"

export const types = ["audit_log", "group", "task", "template", "user", "workspace", "workspace_dormant"] as const
export const verbs = ["create", "delete", "read", "share", "ssh", "update"] as const

const modes: ReadonlyArray<ShareableWorkspaceOwners> = ["none", "everyone", "service_accounts"]
const organizations = ["o1", "o2", "o3"]
const users = ["u1", "u2"]
const groups = ["g1", "g2"]

export const type = fc.constantFrom(...types)
export const action = fc.constantFrom(...verbs)

const grants: fc.Arbitrary<Grants> = fc
  .array(
    fc.tuple(
      fc.constantFrom("*" as const, ...types),
      fc.uniqueArray(fc.constantFrom("*" as const, ...verbs), { minLength: 1, maxLength: 3 })
    ),
    {
      maxLength: 3
    }
  )
  .map((entries) => Object.fromEntries(entries))

const levels = fc.record({ site: grants, user: grants, org: grants, member: grants }, { requiredKeys: [] })

/** A custom role that allows and denies at any level. */
export const customRole: fc.Arbitrary<Role> = fc
  .record({ allow: levels, deny: fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: levels }) })
  .map(({ allow, deny }) => ({ name: "custom", display_name: "", allow, deny }))

/** A role that denies nothing. */
export const positiveRole: fc.Arbitrary<Role> = levels.map((allow) => ({ name: "positive", display_name: "", allow, deny: {} }))

const inOrganization = (role: fc.Arbitrary<Role>): fc.Arbitrary<HeldRole> =>
  fc.record({ role, organizationId: fc.constantFrom(...organizations) })

const onSite = (role: fc.Arbitrary<Role>): fc.Arbitrary<HeldRole> => fc.record({ role, organizationId: fc.constant(undefined) })

const options = fc.record({
  disableOwnerWorkspaceAccess: fc.boolean(),
  disableWorkspaceSharing: fc.boolean(),
  disableChatSharing: fc.boolean()
})

const siteRole = options.chain((set) =>
  fc.constantFrom(
    ...expandRoles(
      siteRoles.map(({ name }) => name),
      { options: set }
    )
  )
)

const systemRole = fc
  .tuple(fc.constantFrom(...organizationSystemRoles), fc.constantFrom(...modes))
  .map(([name, mode]) => organizationSystemRole(name, mode))

/** A role held somewhere. */
export const heldRole = (role: fc.Arbitrary<Role>): fc.Arbitrary<HeldRole> => fc.oneof(onSite(role), inOrganization(role))

const anyHeldRole = fc.oneof(
  { weight: 1, arbitrary: onSite(siteRole) },
  { weight: 2, arbitrary: inOrganization(systemRole) },
  { weight: 2, arbitrary: inOrganization(fc.constantFrom(...organizationRoles)) },
  { weight: 3, arbitrary: heldRole(customRole) }
)

const entry: fc.Arbitrary<AllowListEntry> = fc.record({
  type: fc.constantFrom("*" as const, ...types),
  id: fc.constantFrom("*", "a", "b", "c")
})

export const allowList: fc.Arbitrary<AllowList> = fc.array(entry, { minLength: 1, maxLength: 5 })

/** Mostly everything, so that roles get a say. */
const someAllowList: fc.Arbitrary<AllowList> = fc.oneof(
  { weight: 2, arbitrary: fc.constant([{ type: "*" as const, id: "*" }]) },
  { weight: 1, arbitrary: allowList }
)

export const scopeNames = fc.oneof(
  { weight: 2, arbitrary: fc.constant<ReadonlyArray<string>>(["coder:all"]) },
  { weight: 1, arbitrary: fc.subarray([...externalScopes], { maxLength: 6 }) },
  { weight: 1, arbitrary: fc.constant<ReadonlyArray<string>>(["no_user_data"]) }
)

export const subject: fc.Arbitrary<Subject> = fc
  .record({
    roles: fc.array(anyHeldRole, { maxLength: 6 }),
    groups: fc.subarray(groups),
    scope: scopeNames.map(expandScopes),
    allowList: someAllowList,
    options
  })
  .map((parts) => subjectOf({ kind: "user", id: "u1", ...parts }))

const actionsOfAcl = fc.uniqueArray(fc.constantFrom("*", ...verbs), { maxLength: 2 })
const acl = (ids: ReadonlyArray<string>) => fc.option(fc.dictionary(fc.constantFrom(...ids), actionsOfAcl, { maxKeys: 2 }))

/** An object as a store would hold it: of no organization or of one. Types without ACLs have none. */
export const storedObject: fc.Arbitrary<AccessObject> = type.chain((type) =>
  fc.record({
    type: fc.constant(type),
    id: fc.constantFrom("a", "b", "c"),
    owner: fc.option(fc.constantFrom(...users)),
    org: fc.option(fc.constantFrom(...organizations), { freq: 5 }),
    aclUser: type === "audit_log" || type === "user" || type === "workspace_dormant" ? fc.constant(null) : acl(users),
    aclGroup:
      type === "audit_log" || type === "user" || type === "workspace_dormant" ? fc.constant(null) : acl([...groups, ...organizations])
  })
)

/** As above, or an object that is about to be created, or one of any organization. */
export const object: fc.Arbitrary<AccessObject> = fc
  .record({
    stored: storedObject,
    anyOrg: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    named: fc.boolean()
  })
  .map(({ stored, anyOrg, named }) => ({ ...stored, anyOrg, id: named ? stored.id : undefined }))
