/** Users by status over time. notifications-audit-insights.md §C5. */
import type { UserStatus } from "../identity/users/User.js"
import type { Timestamp } from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import type { StatusChange } from "./InsightsRepository.js"

/** Counts users by status at instants, from changes in their order. */
export class StatusCounts {
  private readonly statuses = new Map<Uuid, UserStatus | null>()
  private readonly current = new Map<UserStatus, number>()
  private readonly points: Array<ReadonlyMap<UserStatus, number>> = []
  constructor(private readonly instants: ReadonlyArray<Timestamp>) {}

  add({ changed_at, status, user_id }: StatusChange): void {
    while (this.points.length < this.instants.length && changed_at > (this.instants[this.points.length] ?? "")) this.close()
    const before = this.statuses.get(user_id)
    // A deleted user has no status any more
    if (before === null) return
    if (before !== undefined) this.current.set(before, (this.current.get(before) ?? 0) - 1)
    if (status !== null) this.current.set(status, (this.current.get(status) ?? 0) + 1)
    this.statuses.set(user_id, status)
  }

  private close(): void {
    this.points.push(new Map(this.current))
  }

  /** The counts at each instant, of every status that ever occurred. */
  get counts(): Readonly<Record<string, ReadonlyArray<{ readonly date: Timestamp; readonly count: number }>>> {
    while (this.points.length < this.instants.length) this.close()
    return Object.fromEntries(
      Array.from(this.current.keys())
        .toSorted()
        .map((status) => [status, this.instants.map((date, index) => ({ date, count: this.points[index]?.get(status) ?? 0 }))])
    )
  }
}
