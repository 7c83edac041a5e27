/** What a tick of the clock does to a workspace. workspaces.md §5.5, as the recorded ticks correct its limits. */
import { Duration } from "effect"
import type { UserStatus } from "../../identity/users/User.js"
import { nextAllowedStart, storedSchedule } from "../../platform/time/Schedule.js"
import { fromMillis, minus, plus, type Timestamp, toMillis } from "../../platform/time/Timestamp.js"
import type { BuildTransition } from "../../provisioning/jobs/BuildTransition.js"
import { isActive, jobStatus, type JobProgress } from "../../provisioning/jobs/ProvisionerJob.js"
import { autostartDays } from "../../templates/settings/EffectiveTemplate.js"
import type { Template } from "../../templates/Template.js"
import { isDormant } from "./Dormancy.js"
import { isPrebuild, type Workspace } from "../Workspace.js"
import type { BuildReason } from "../../provisioning/jobs/BuildReason.js"
import type { WorkspaceBuild } from "../builds/WorkspaceBuild.js"

/** The part of a template in force that decides about the life of its workspaces. */
export type LifeCyclePolicy = Pick<
  Template,
  "allow_user_autostart" | "autostart_block_days_of_week" | "failure_ttl_ms" | "time_til_dormant_ms" | "time_til_dormant_autodelete_ms"
>

export interface LifeCycleSubject {
  readonly workspace: Pick<
    Workspace,
    "owner_id" | "deleted" | "autostart_schedule" | "next_start_at" | "last_used_at" | "dormant_at" | "deleting_at" | "task_id"
  >
  /** The latest one. */
  readonly build: Pick<WorkspaceBuild, "created_at" | "transition" | "deadline"> & { readonly job: JobProgress }
  readonly policy: LifeCyclePolicy
  readonly owner: { readonly status: UserStatus }
}

/** A build that the service makes by itself. */
export interface AutomaticBuild {
  readonly transition: BuildTransition
  readonly reason: Extract<BuildReason, "autostart" | "autostop" | "dormancy" | "autodelete" | "task_auto_pause">
}

export interface LifeCycleAction {
  /** Whether the workspace becomes dormant. */
  readonly dormant: boolean
  /** Null if the workspace only becomes dormant. */
  readonly build: AutomaticBuild | null
}

/** How long a deletion that failed is left alone. */
const deletionRetry = Duration.hours(24)

/** The minute of an instant. All rules of one tick compare with it. */
export const tickOf = (now: Timestamp): Timestamp => fromMillis(Math.floor(toMillis(now) / 60_000) * 60_000)

const build = (transition: BuildTransition, reason: AutomaticBuild["reason"]): LifeCycleAction => ({
  dormant: false,
  build: { transition, reason }
})

/** Whether the instant lies before the tick by more than a duration in milliseconds. */
const isOlder = (at: Timestamp, than: number, tick: Timestamp): boolean => at < minus(tick, than)

/** A stop of a task's workspace is a pause of the task. */
const stop = ({ workspace }: LifeCycleSubject): LifeCycleAction =>
  build("stop", workspace.task_id === null ? "autostop" : "task_auto_pause")

/** A rule's action, or undefined if the rule does not apply. `hasFailed` tells how the latest build ended. */
type Rule = (subject: LifeCycleSubject, tick: Timestamp, hasFailed: boolean) => LifeCycleAction | undefined

const autostop: Rule = (subject, tick, hasFailed) => {
  const { build, owner, workspace } = subject
  if (hasFailed || isDormant(workspace) || build.transition !== "start") return undefined
  return owner.status === "suspended" || (build.deadline !== null && build.deadline < tick) ? stop(subject) : undefined
}

const autostart: Rule = ({ build: latest, owner, policy, workspace }, tick, hasFailed) => {
  if (hasFailed || isDormant(workspace) || latest.transition !== "stop") return undefined
  if (owner.status !== "active" || !policy.allow_user_autostart) return undefined
  const start = scheduledStart({ workspace, build: latest, policy })
  return start !== null && start <= tick ? build("start", "autostart") : undefined
}

const cleanup: Rule = (subject, tick, hasFailed) => {
  const { build, policy } = subject
  const { completed_at } = build.job
  if (!hasFailed || completed_at === null || build.transition === "delete" || policy.failure_ttl_ms <= 0) return undefined
  return isOlder(completed_at, policy.failure_ttl_ms, tick) ? stop(subject) : undefined
}

const dormancy: Rule = ({ build, policy, workspace }, tick) => {
  if (isDormant(workspace) || policy.time_til_dormant_ms <= 0) return undefined
  if (!isOlder(workspace.last_used_at, policy.time_til_dormant_ms, tick)) return undefined
  return { dormant: true, build: build.transition === "start" ? { transition: "stop", reason: "dormancy" } : null }
}

const deletion: Rule = ({ build: latest, policy, workspace }, tick, hasFailed) => {
  const { deleting_at } = workspace
  if (!isDormant(workspace) || deleting_at === null || policy.time_til_dormant_autodelete_ms <= 0 || deleting_at >= tick) return undefined
  const { completed_at } = latest.job
  const isTooSoon = hasFailed && latest.transition === "delete" && completed_at !== null && plus(completed_at, deletionRetry) >= tick
  return isTooSoon ? undefined : build("delete", "autodelete")
}

/** The first rule that applies wins. */
const rules: ReadonlyArray<Rule> = [autostop, autostart, cleanup, dormancy, deletion]

/**
 * The instant at which a stopped workspace starts by its schedule: the first allowed occurrence after its latest build was created, but not
 * before the next start that is stored. Null without a schedule, and if no day within a week is allowed.
 */
export const scheduledStart = ({
  build,
  policy,
  workspace
}: {
  readonly workspace: Pick<Workspace, "autostart_schedule" | "next_start_at">
  readonly build: Pick<WorkspaceBuild, "created_at">
  readonly policy: Pick<LifeCyclePolicy, "autostart_block_days_of_week">
}): Timestamp | null => {
  const schedule = storedSchedule(workspace.autostart_schedule)
  const first = schedule === null ? null : nextAllowedStart(schedule, build.created_at, autostartDays(policy))
  const stored = workspace.next_start_at
  return first === null || stored === null || stored < first ? first : stored
}

/**
 * The action that a workspace needs now, or null. A workspace with an unfinished build, a deleted one and an unclaimed prebuild need none.
 */
export const dueAction = (subject: LifeCycleSubject, now: Timestamp): LifeCycleAction | null => {
  const status = jobStatus(subject.build.job)
  if (subject.workspace.deleted || isPrebuild(subject.workspace) || isActive(status)) return null
  const tick = tickOf(now)
  for (const rule of rules) {
    const action = rule(subject, tick, status === "failed")
    if (action !== undefined) return action
  }
  return null
}
