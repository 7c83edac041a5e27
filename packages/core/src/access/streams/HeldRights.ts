/** The rights that are kept, to be found by what may end them. */
import { Bag, type Bagged } from "../../platform/collections/Bag.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { Holding } from "./RightJudgement.js"
import type { RightsChange } from "./RightsChanges.js"
import { concerns } from "./RecentChanges.js"

/** A right's entry in the bag of a workspace. */
export class WithinWorkspace implements Bagged {
  place = -1
  constructor(
    readonly workspaceId: Uuid,
    readonly holding: Holding
  ) {}
}

/** Workspaces whose changes may end a right. */
const workspacesOf = ({ actor, right }: Holding): ReadonlyArray<Uuid> => {
  const own = actor.agentId === undefined ? undefined : actor.workspaceId
  const its = right.workspaceId
  if (own === undefined) return its === undefined ? [] : [its]
  return its === undefined || its === own ? [own] : [own, its]
}

/**
 * Rights in no order. Builds of workspaces are what may end rights most often, and each concerns few of them: thousands of rights that were looked at after each
 * took a twentieth of a core.
 */
export class HeldRights implements Iterable<Holding> {
  private readonly all = new Bag<Holding>()
  /** Those without rights remain until the next `tidy`: a request to an app holds a right for a moment. */
  private readonly byWorkspace = new Map<Uuid, Bag<WithinWorkspace>>()

  add(holding: Holding): void {
    this.all.add(holding)
    for (const workspaceId of workspacesOf(holding)) {
      const bag = this.byWorkspace.get(workspaceId) ?? new Bag()
      this.byWorkspace.set(workspaceId, bag)
      const entry = new WithinWorkspace(workspaceId, holding)
      bag.add(entry)
      holding.entries.push(entry)
    }
  }

  /** Answers whether the right was there. */
  delete(holding: Holding): boolean {
    if (!this.all.delete(holding)) return false
    for (const entry of holding.entries) this.byWorkspace.get(entry.workspaceId)?.delete(entry)
    return true
  }

  /** The rights that a change may end; all without a change. */
  concernedBy(change: RightsChange | undefined): ReadonlyArray<Holding> {
    const { user_id, workspace_id } = change ?? {}
    if (change === undefined || user_id !== undefined || workspace_id === undefined) {
      return [...this.all].filter(({ actor, right }) => change === undefined || concerns(change, actor, right))
    }
    return Array.from(this.byWorkspace.get(workspace_id) ?? [], ({ holding }) => holding)
  }

  /** Forgets the workspaces without rights. */
  tidy(): void {
    for (const [workspaceId, bag] of this.byWorkspace) if (bag.size === 0) this.byWorkspace.delete(workspaceId)
  }

  [Symbol.iterator](): Iterator<Holding> {
    return this.all[Symbol.iterator]()
  }
}
