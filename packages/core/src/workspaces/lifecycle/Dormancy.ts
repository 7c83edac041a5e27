/** When a workspace is dormant, and what changes as it falls asleep and wakes. workspaces.md §3.4, §5.5, §5.6. */
import { plus, type Timestamp } from "../../platform/time/Timestamp.js"
import type { Template } from "../../templates/Template.js"
import { nextScheduledStart } from "../schedule/NextScheduledStart.js"
import type { Workspace } from "../Workspace.js"

/** What dormancy writes of a workspace. */
export type Dormancy = Pick<Workspace, "dormant_at" | "deleting_at" | "last_used_at" | "next_start_at">

type DormancyTemplate = Pick<Template, "time_til_dormant_autodelete_ms" | "autostart_block_days_of_week">

/** A workspace that has not been used yet. */
export const awake = { dormant_at: null, deleting_at: null } as const

export const isDormant = ({ dormant_at }: Pick<Workspace, "dormant_at">): boolean => dormant_at !== null

/** When a workspace that is dormant since then is deleted; null if its template deletes none. */
export const deletingAt = (dormantAt: Timestamp, { time_til_dormant_autodelete_ms: rest }: DormancyTemplate): Timestamp | null =>
  rest > 0 ? plus(dormantAt, rest) : null

/** A workspace that becomes dormant: it keeps its last use, and starts by no schedule. */
export const asleep = <A extends Workspace>(workspace: A, template: DormancyTemplate, now: Timestamp): A => ({
  ...workspace,
  dormant_at: now,
  deleting_at: deletingAt(now, template),
  next_start_at: null
})

/** A workspace that wakes: it is in use, and starts by its schedule again. */
export const woken = <A extends Workspace>(workspace: A, template: DormancyTemplate, now: Timestamp): A => {
  const inUse = { ...workspace, ...awake, last_used_at: now }
  return { ...inUse, next_start_at: nextScheduledStart(inUse, template, now) }
}
