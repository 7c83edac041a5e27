/** Limits on users' spend on workspaces. authorization.md §10. */

/** A user's quota in an organization, in the units of templates' `daily_cost`. */
export interface Quota {
  /** The total allowance of the user's groups; -1 has no bound. */
  readonly budget: number
  /** The total cost of the latest builds of the user's workspaces. */
  readonly credits_consumed: number
}

/** The budget where quotas are not licensed. */
export const unbounded = -1

/** A build that has been planned, and what else its owner pays for: `consumed` is without this workspace. */
export interface PlannedCost {
  readonly budget: number
  readonly consumed: number
  readonly cost: number
  /** The cost of the workspace's previous build; null for the first build. */
  readonly previous: number | null
}

/** Whether a build may be carried out: within the budget, or where it lowers what the owner consumes. */
export const affordable = ({ budget, consumed, cost, previous }: PlannedCost): boolean =>
  consumed + cost <= budget || (previous !== null && cost < previous)
