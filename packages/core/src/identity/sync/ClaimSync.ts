/**
 * The rules by which memberships, groups and roles follow from claims of an OpenID Connect provider. Everything here is pure.
 * authorization.md §11.2, §11.3.
 */
import { Either } from "effect"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { compilePattern, matchesPattern } from "../../platform/texts/Pattern.js"
import type { GroupSyncSettings, Mapping, OrganizationSyncSettings } from "./IdpSync.js"

/** Values of one claim. */
const maximumValues = 10_000

/** A provider's claims about a user, as one JSON object. */
export type Claims = Readonly<Record<string, unknown>>

/** Why a claim says nothing that can be followed. */
export class UnreadableClaim {
  constructor(readonly reason: string) {}
}

const unreadable = (field: string, reason: string): Either.Either<never, UnreadableClaim> =>
  Either.left(new UnreadableClaim(`The claim ${JSON.stringify(field)} ${reason}.`))

/** The values of a claim, each once: none for one that is missing, null or an empty text. */
export const claimValues = (claims: Claims, field: string): Either.Either<ReadonlyArray<string>, UnreadableClaim> => {
  const value = Object.hasOwn(claims, field) ? claims[field] : undefined
  if (value === undefined || value === null || value === "") return Either.right([])
  if (typeof value === "string") {
    return value.includes(",") ? unreadable(field, "is a text with commas instead of a list") : Either.right([value])
  }
  if (!Array.isArray(value)) return unreadable(field, "is neither a list of texts nor a text")
  if (value.length > maximumValues) return unreadable(field, `has more than ${maximumValues} values`)
  const texts = value.filter((item) => typeof item === "string")
  return texts.length === value.length ? Either.right([...new Set(texts)]) : unreadable(field, "has values that are not texts")
}

/** The targets of a value; undefined without a mapping. */
const mapped = <A extends string>(mapping: Mapping<A>, value: string): ReadonlyArray<A> | undefined =>
  Object.hasOwn(mapping, value) ? mapping[value] : undefined

/** Whether a user in these groups may log in: one group of the list is enough, and an empty list admits all users. */
export const isAllowedByGroups = (values: ReadonlyArray<string>, allowed: ReadonlyArray<string>): boolean =>
  allowed.length === 0 || values.some((value) => allowed.includes(value))

/** The organizations that a user should be a member of; some may no longer exist. */
export const organizationsFrom = (
  values: ReadonlyArray<string>,
  { mapping, organization_assign_default }: OrganizationSyncSettings,
  defaultId: Uuid
): ReadonlySet<Uuid> =>
  new Set([...(organization_assign_default ? [defaultId] : []), ...values.flatMap((value) => mapped(mapping, value) ?? [])])

/** The groups that a user should be in: by id, perhaps of deleted groups, and by name. */
export interface WantedGroups {
  readonly ids: ReadonlySet<Uuid>
  readonly names: ReadonlySet<string>
}

/** The groups of one organization that follow from values of its claim. */
export const groupsFrom = (
  values: ReadonlyArray<string>,
  { legacy_group_name_mapping, mapping, regex_filter }: GroupSyncSettings
): Either.Either<WantedGroups, UnreadableClaim> => {
  const pattern = regex_filter === null ? null : compilePattern(regex_filter)
  if (typeof pattern === "string") return Either.left(new UnreadableClaim(`The filter of groups is not an expression: ${pattern}.`))
  const ids = new Set<Uuid>()
  const names = new Set<string>()
  for (const value of values) {
    const name = (Object.hasOwn(legacy_group_name_mapping, value) ? legacy_group_name_mapping[value] : undefined) ?? value
    if (pattern !== null && matchesPattern(pattern, name) !== true) continue
    const groups = mapped(mapping, name)
    if (groups === undefined) names.add(name)
    else for (const id of groups) ids.add(id)
  }
  return Either.right({ ids, names })
}

/** Names of the roles that follow from values of a claim, each once; there need not be such roles. */
export const rolesFrom = (values: ReadonlyArray<string>, mapping: Mapping): ReadonlyArray<string> =>
  [...new Set(values.flatMap((value) => mapped(mapping, value) ?? [value]))].toSorted()

/** Whether two lists hold the same names, in any order. */
export const isSameSet = (left: ReadonlyArray<string>, right: ReadonlyArray<string>): boolean =>
  new Set(left).size === new Set(right).size && left.every((item) => right.includes(item))
