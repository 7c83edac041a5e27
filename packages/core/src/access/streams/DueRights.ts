/**
 * The streams whose rights have to be judged, and the credentials that are judged now. Streams of one credential are judged together. No more are taken than
 * may be judged at once: what a change may have ended is taken when a judgement is over, before or right after one other, however many others wait.
 */
import type { Holding } from "./RightJudgement.js"

/** One credential. */
export interface DueGroup {
  readonly group: unknown
  readonly holdings: Set<Holding>
  /** Whether a change may have ended it. Otherwise it is stale: nothing but time has passed. */
  readonly isSuspected: boolean
  /** Whether it could not be judged the last time. */
  readonly isRetry: boolean
}

/** Of as many credentials that are taken, one is stale if any is: changes that go on must not keep those from their turn. */
const staleEvery = 4

export class DueRights {
  private readonly due = new Map<unknown, DueGroup>()
  /** Those of `due` that are not judged now, in the order in which they became due. */
  private readonly suspected = { first: new Set<DueGroup>(), retry: new Set<DueGroup>() }
  private readonly stale = { first: new Set<DueGroup>(), retry: new Set<DueGroup>() }
  private readonly underway = new Set<unknown>()
  private readonly free: { first: number; retry: number }
  private takenSinceStale = 0

  /** `concurrency`: credentials judged at once. Those that could not be judged the last time have as many places of their own, so that others need not wait. */
  constructor(
    private readonly groupOf: (holding: Holding) => unknown,
    concurrency: number
  ) {
    this.free = { first: concurrency, retry: concurrency }
  }

  /** `isStale`: nothing but time has passed. One whose credential is judged now waits until that is over. */
  add(holding: Holding, isStale: boolean): void {
    const group = this.groupOf(holding)
    const before = this.due.get(group)
    const isSuspected = before?.isSuspected === true || !isStale
    const isRetry = before?.isRetry === true || holding.hasFailed
    const holdings = (before?.holdings ?? new Set()).add(holding)
    if (before?.isSuspected === isSuspected && before.isRetry === isRetry) return
    if (before !== undefined) this.queueOf(before).delete(before)
    this.put({ group, holdings, isSuspected, isRetry })
  }

  delete(holding: Holding): void {
    const due = this.due.get(this.groupOf(holding))
    due?.holdings.delete(holding)
    if (due?.holdings.size !== 0) return
    this.due.delete(due.group)
    this.queueOf(due).delete(due)
  }

  /** Whether the credential of the stream is judged now. */
  isUnderway(holding: Holding): boolean {
    return this.underway.has(this.groupOf(holding))
  }

  /** Takes the next credential, which is judged from now on until `leave`. Returns undefined if no credential is due, or all places are taken. */
  take(): DueGroup | undefined {
    const isTurnOfStale = this.takenSinceStale >= staleEvery - 1
    for (const queues of isTurnOfStale ? [this.stale, this.suspected] : [this.suspected, this.stale]) {
      // Retries have places of their own: they keep no other from being judged for the first time
      for (const kind of ["retry", "first"] as const) {
        const [next] = queues[kind]
        if (next === undefined || this.free[kind] === 0) continue
        queues[kind].delete(next)
        this.due.delete(next.group)
        this.underway.add(next.group)
        this.free[kind]--
        this.takenSinceStale = next.isSuspected ? this.takenSinceStale + 1 : 0
        return next
      }
    }
    return undefined
  }

  /**
   * Takes further credentials, which are judged in the place of one that was taken, until `leave`: those that follow it in its queue, as far as they are of its kind. One that
   * could not be judged the last time is judged alone: it may be what keeps the others from it.
   */
  takeBeside(taken: DueGroup, isOfKind: (group: DueGroup) => boolean, most: number): ReadonlyArray<DueGroup> {
    const beside: Array<DueGroup> = []
    if (taken.isRetry) return beside
    const queue = this.queueOf(taken)
    for (const next of queue) {
      if (beside.length >= most || !isOfKind(next)) break
      queue.delete(next)
      this.due.delete(next.group)
      this.underway.add(next.group)
      beside.push(next)
    }
    return beside
  }

  /** Ends the judgement of a credential that was taken, and of those beside it. Returns whether others are due. */
  leave(taken: DueGroup, beside: ReadonlyArray<DueGroup> = []): boolean {
    this.free[taken.isRetry ? "retry" : "first"]++
    for (const { group } of [taken, ...beside]) {
      this.underway.delete(group)
      const again = this.due.get(group)
      // The judgement found out whether it can be judged
      if (again !== undefined) this.put({ ...again, isRetry: [...again.holdings].some(({ hasFailed }) => hasFailed) })
    }
    return this.due.size > 0
  }

  private put(due: DueGroup): void {
    this.due.set(due.group, due)
    if (!this.underway.has(due.group)) this.queueOf(due).add(due)
  }

  private queueOf({ isSuspected, isRetry }: DueGroup): Set<DueGroup> {
    return (isSuspected ? this.suspected : this.stale)[isRetry ? "retry" : "first"]
  }
}
