/** Limits on the AI spend of group members, in micros: a million of them are one unit of the currency. authorization.md §9. */
import { Schema } from "effect"
import type { OrganizationId } from "../organizations/Organization.js"
import * as Numbers from "../platform/Numbers.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { Uuid } from "../platform/texts/Uuid.js"
import type { GroupId } from "../groups/Group.js"

/** The highest limit: a million units. */
const maximumLimit = 1_000_000_000_000

/** Returns the rule that a limit breaks, or undefined. 0 forbids all spending. */
export const limitViolation = (micros: number): string | undefined =>
  micros < 0 || micros > maximumLimit ? `must be between 0 and ${maximumLimit}` : undefined

/** An amount as audit entries show it. */
export const dollars = (micros: number): string => `$${(micros / 1_000_000).toFixed(2)}`

/** The monthly limit for each member of a group. */
export const GroupAiBudget = Schema.Struct({
  group_id: Uuid,
  spend_limit_micros: Numbers.Count,
  created_at: Timestamp.Timestamp,
  updated_at: Timestamp.Timestamp
})
export interface GroupAiBudget extends Schema.Schema.Type<typeof GroupAiBudget> {}

/** The monthly limit of one user in place of its groups', charged to one of its groups. */
export const UserAiBudgetOverride = Schema.Struct({ user_id: Uuid, ...GroupAiBudget.fields })
export interface UserAiBudgetOverride extends Schema.Schema.Type<typeof UserAiBudgetOverride> {}

/** Where a limit comes from. */
export const LimitSource = Schema.Literal("user_override", "group")
export type LimitSource = typeof LimitSource.Type

/** A limit, and the group on whose account the user spends. */
interface Candidate {
  readonly group_id: GroupId
  readonly organization_id: OrganizationId
  readonly spend_limit_micros: number
}

/** The data that decide a user's budget, without those of deleted organizations. */
export interface BudgetInputs {
  readonly override: Candidate | null
  /** Of the user's groups that have one, with the instant at which the user joined the organization. */
  readonly budgets: ReadonlyArray<Candidate & { readonly joined_at: Timestamp.Timestamp }>
  readonly memberships: ReadonlyArray<{
    readonly organization_id: OrganizationId
    readonly is_default: boolean
    readonly joined_at: Timestamp.Timestamp
  }>
}

/** The group that a user's spend is booked on, and what the user may spend; null has no bound. */
export interface EffectiveBudget {
  readonly group_id: GroupId
  readonly organization_id: OrganizationId
  readonly limit: { readonly spend_limit_micros: number; readonly limit_source: LimitSource } | null
}

/** The first of two texts in their order comes first. */
const byText = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0)

const limited = ({ group_id, organization_id, spend_limit_micros }: Candidate, limit_source: LimitSource): EffectiveBudget => ({
  group_id,
  organization_id,
  limit: { spend_limit_micros, limit_source }
})

/**
 * Returns the user's override. Without one, returns the highest budget of its groups; among equal ones that of the organization joined
 * first, then of the lowest id. Without a budget, returns no limit, charged to Everyone of the default organization or of the one joined
 * first. Null for a user without organizations.
 */
export const effectiveBudget = ({ budgets, memberships, override }: BudgetInputs): EffectiveBudget | null => {
  if (override !== null) return limited(override, "user_override")
  const [highest] = budgets.toSorted(
    (left, right) =>
      right.spend_limit_micros - left.spend_limit_micros || byText(left.joined_at, right.joined_at) || byText(left.group_id, right.group_id)
  )
  if (highest !== undefined) return limited(highest, "group")
  const [first] = memberships.toSorted(
    (left, right) =>
      Number(right.is_default) - Number(left.is_default) ||
      byText(left.joined_at, right.joined_at) ||
      byText(left.organization_id, right.organization_id)
  )
  // Everyone has the organization's id
  return first === undefined ? null : { group_id: first.organization_id, organization_id: first.organization_id, limit: null }
}

/** From an instant to before another. */
export interface Period {
  readonly period_start: Timestamp.Timestamp
  readonly period_end: Timestamp.Timestamp
}

/** The calendar month of an instant, in UTC. */
export const monthOf = (at: Timestamp.Timestamp): Period => {
  const date = new Date(Timestamp.toMillis(at))
  const first = (months: number) => Timestamp.fromMillis(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months))
  return { period_start: first(0), period_end: first(1) }
}

/** The days in UTC, `YYYY-MM-DD`, that a period has a part of. */
export const spendDays = ({ period_end, period_start }: Period): { readonly first: string; readonly last: string } => ({
  first: period_start.slice(0, 10),
  last: Timestamp.minus(period_end, 1).slice(0, 10)
})
