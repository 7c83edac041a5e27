/** The end of workspaces that live for a time: how it is chosen, and what is done at it. */
import { Duration, Effect } from "effect"
import { Invalid } from "../../platform/Errors.js"
import { between, plus, type Timestamp } from "../../platform/time/Timestamp.js"
import { isActive, type JobProgress, jobStatus } from "../../provisioning/jobs/ProvisionerJob.js"
import type { WorkspaceBuild } from "../builds/WorkspaceBuild.js"
import { isPrebuild, type Workspace } from "../Workspace.js"

/** The shortest and the longest time to the end of a workspace, in milliseconds: a second, and 30 days. It may be set again before its end. */
const shortest = 1_000
const longest = 30 * 24 * 60 * 60_000

/** The instant after a timeout in milliseconds; null without a timeout. Fails with `Invalid` naming the field `timeout_ms`. */
export const endOfLife = (timeout: number | null | undefined, now: Timestamp): Effect.Effect<Timestamp | null, Invalid> => {
  if (timeout === null || timeout === undefined) return Effect.succeed(null)
  return timeout >= shortest && timeout <= longest
    ? Effect.succeed(plus(now, timeout))
    : Invalid.field("timeout_ms", `must be between one second and 30 days, not ${timeout} ms`)
}

/** The pauses between attempts to delete a workspace. */
const firstPause = Duration.seconds(10)
const longestPause = Duration.hours(1)

/** After a failed deletion the next attempt waits as long as the deletion has been overdue, so the pauses double. */
const pauseAfter = (expiresAt: Timestamp, endedAt: Timestamp): Duration.Duration =>
  Duration.clamp(between(expiresAt, endedAt), { minimum: firstPause, maximum: longestPause })

export interface LifetimeSubject {
  readonly workspace: Pick<Workspace, "owner_id" | "deleted" | "expires_at">
  /** The latest one. */
  readonly build: Pick<WorkspaceBuild, "transition"> & { readonly job: JobProgress }
}

/**
 * What the end of a workspace's time asks for now: to cancel its unfinished build, or to delete it. Null while the time lasts, while a build is
 * deleted or canceled, and between two attempts to delete it.
 */
export const endAction = ({ build, workspace }: LifetimeSubject, now: Timestamp): "cancel" | "delete" | null => {
  const { expires_at } = workspace
  if (workspace.deleted || isPrebuild(workspace) || expires_at === null || expires_at > now) return null
  const status = jobStatus(build.job)
  if (isActive(status)) return build.transition === "delete" || status === "canceling" ? null : "cancel"
  const endedAt = build.transition === "delete" ? build.job.completed_at : null
  return endedAt !== null && plus(endedAt, pauseAfter(expires_at, endedAt)) > now ? null : "delete"
}
