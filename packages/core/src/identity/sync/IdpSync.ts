/** Settings of the deployment and of organizations for claims of an OpenID Connect provider. authorization.md §11.1. */
import { Schema } from "effect"
import { siteRole } from "../../access/roles/Roles.js"
import { type Validation, validationsOf } from "../../platform/Errors.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { compilePattern } from "../../platform/texts/Pattern.js"

const mappingTo = <A>(target: Schema.Schema<A, string>) => Schema.Record({ key: Schema.String, value: Schema.Array(target) })

/** Which organizations users are members of. */
export const OrganizationSyncSettings = Schema.Struct({
  /** The claim; empty: memberships do not follow from claims. */
  field: Schema.String,
  /** Organizations by value of the claim. */
  mapping: mappingTo(Uuid),
  /** Whether every user is a member of the default organization. */
  organization_assign_default: Schema.Boolean
})
export interface OrganizationSyncSettings extends Schema.Schema.Type<typeof OrganizationSyncSettings> {}

/** Which groups of an organization its members are in. */
export const GroupSyncSettings = Schema.Struct({
  /** The claim; empty: groups do not follow from claims. */
  field: Schema.String,
  /** Groups by value of the claim; other values are names of groups. */
  mapping: mappingTo(Uuid),
  /** RE2: values that it does not match count for nothing; null where all count. */
  regex_filter: Schema.NullOr(Schema.String),
  /** Whether groups are created for names that no group has. */
  auto_create_missing_groups: Schema.Boolean,
  /** Names for values of the claim, as older deployments configure them. */
  legacy_group_name_mapping: Schema.Record({ key: Schema.String, value: Schema.String })
})
export interface GroupSyncSettings extends Schema.Schema.Type<typeof GroupSyncSettings> {}

/** Which roles its members have in an organization. */
export const RoleSyncSettings = Schema.Struct({
  /** The claim; empty: roles do not follow from claims. */
  field: Schema.String,
  /** Names of roles by value of the claim; other values are names of roles. */
  mapping: mappingTo(Schema.String)
})
export interface RoleSyncSettings extends Schema.Schema.Type<typeof RoleSyncSettings> {}

/** The targets of a claim's values. */
export type Mapping<A extends string = string> = Readonly<Record<string, ReadonlyArray<A>>>

/** One value of a claim, and one target that it maps to. */
export interface MappingPair<A extends string = string> {
  readonly given: string
  readonly gets: A
}

/** Pairs to add, and then those to remove. */
export interface MappingChange<A extends string = string> {
  readonly add: ReadonlyArray<MappingPair<A>>
  readonly remove: ReadonlyArray<MappingPair<A>>
}

/** The mapping after a change: added pairs occur once, removed pairs are gone. A value without targets is kept. */
export const changedMapping = <A extends string>(mapping: Mapping<A>, { add, remove }: MappingChange<A>): Mapping<A> => {
  const targets = new Map(Object.entries(mapping).map(([given, gets]) => [given, new Set(gets)]))
  for (const { gets, given } of add) {
    const known = targets.get(given)
    if (known === undefined) targets.set(given, new Set([gets]))
    else known.add(gets)
  }
  for (const { gets, given } of remove) targets.get(given)?.delete(gets)
  return Object.fromEntries([...targets].map(([given, gets]) => [given, [...gets]]))
}

/** Characters of the name of a claim, of one of its values, and of a target. */
const maximumText = 1024

/** Targets of all values of a mapping together. The values count too. */
const maximumMapping = 10_000

const textViolation = (text: string): string | undefined =>
  text.length > maximumText ? `must have at most ${maximumText} characters` : undefined

const mappingViolation = (mapping: Mapping): string | undefined => {
  const entries = Object.entries(mapping)
  const size = entries.reduce((sum, [, gets]) => sum + 1 + gets.length, 0)
  // A record cannot have this key everywhere that it goes
  if (entries.some(([given]) => given === "__proto__")) return "must not have the value __proto__"
  if (size > maximumMapping) return `must have at most ${maximumMapping} values`
  return entries
    .flatMap(([given, gets]) => [given, ...gets])
    .map(textViolation)
    .find((violation) => violation !== undefined)
}

const patternViolation = (source: string | null): string | undefined => {
  const compiled = source === null ? undefined : compilePattern(source)
  return typeof compiled === "string" ? `is not an expression: ${compiled}` : undefined
}

type Settings = OrganizationSyncSettings | GroupSyncSettings | RoleSyncSettings

const concernsRoles = (settings: Settings): settings is RoleSyncSettings =>
  !("regex_filter" in settings) && !("organization_assign_default" in settings)

/** A role of the deployment is never one of an organization. */
const siteRoleViolation = ({ mapping }: RoleSyncSettings): string | undefined => {
  const name = Object.values(mapping)
    .flat()
    .find((role) => siteRole(role) !== undefined)
  return name === undefined ? undefined : `must not have the role ${name} of the deployment`
}

/** The rules that settings break, one entry per field. */
export const idpSyncViolations = (settings: Settings): ReadonlyArray<Validation> => {
  const violations = {
    field: textViolation(settings.field),
    mapping: mappingViolation(settings.mapping) ?? (concernsRoles(settings) ? siteRoleViolation(settings) : undefined),
    regex_filter: "regex_filter" in settings ? patternViolation(settings.regex_filter) : undefined
  }
  return validationsOf(violations)
}
