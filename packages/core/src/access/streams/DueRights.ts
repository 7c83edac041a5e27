/** The streams whose rights have to be judged, in the order in which they became due. Streams of one credential are judged together. */
import type { Holding } from "./RightJudgement.js"

export class DueRights {
  /** Of a change that may have ended them. They are judged before the others: a stream ends within a second of the change. */
  private readonly suspected = new Map<unknown, Set<Holding>>()
  /** Of those that were judged some time ago. */
  private readonly stale = new Map<unknown, Set<Holding>>()

  constructor(private readonly groupOf: (holding: Holding) => unknown) {}

  /** `isStale`: nothing but time has passed. */
  add(holding: Holding, isStale: boolean): void {
    const groups = isStale ? this.stale : this.suspected
    const group = this.groupOf(holding)
    groups.set(group, (groups.get(group) ?? new Set()).add(holding))
  }

  delete(holding: Holding): void {
    const group = this.groupOf(holding)
    for (const groups of [this.suspected, this.stale]) {
      const holdings = groups.get(group)
      holdings?.delete(holding)
      if (holdings?.size === 0) groups.delete(group)
    }
  }

  get isEmpty(): boolean {
    return this.suspected.size === 0 && this.stale.size === 0
  }

  /** Takes the streams of the next credential that is not in use; undefined if there is none. */
  take(underway: ReadonlySet<unknown>): { readonly group: unknown; readonly holdings: ReadonlyArray<Holding> } | undefined {
    for (const groups of [this.suspected, this.stale]) {
      for (const group of groups.keys()) {
        if (underway.has(group)) continue
        const holdings = [...new Set([...(this.suspected.get(group) ?? []), ...(this.stale.get(group) ?? [])])]
        this.suspected.delete(group)
        this.stale.delete(group)
        return { group, holdings }
      }
    }
    return undefined
  }
}
