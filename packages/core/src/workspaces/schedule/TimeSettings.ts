import { Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { Conflict, Invalid } from "../../platform/Errors.js"
import { isActive, jobStatus } from "../../provisioning/jobs/ProvisionerJob.js"
import type { WorkspaceBuildRepository } from "../builds/WorkspaceBuildRepository.js"
import { endOfLife } from "../lifecycle/Lifetime.js"
import { requireClaimed, type Subject } from "../SettingChange.js"
import { neverStarts, validSchedule, validTtl } from "../Workspace.js"
import { nextScheduledStart } from "./NextScheduledStart.js"

/** A locked workspace with other times to start, to stop or to end, or why it cannot have them. workspaces.md §3.4. */
export const timeSettings = (builds: WorkspaceBuildRepository["Type"]) => {
  /** An empty schedule means never. */
  const withSchedule = (subject: Subject, schedule: string) =>
    Effect.gen(function* () {
      yield* requireClaimed(subject)
      const { now, template, workspace } = subject
      yield* validSchedule(schedule)
      if (!template.allow_user_autostart)
        return yield* Invalid.field("schedule", "the template does not let users set when workspaces start")
      const scheduled = { ...workspace, autostart_schedule: schedule === "" ? null : schedule }
      if (schedule !== "" && nextScheduledStart({ ...scheduled, dormant_at: null }, template, now) === null) {
        return yield* neverStarts
      }
      return { ...scheduled, next_start_at: nextScheduledStart(scheduled, template, now) }
    })

  /** 0 milliseconds let a start run until it is stopped. */
  const withTtl = (subject: Subject, ttl: number) =>
    Effect.gen(function* () {
      yield* requireClaimed(subject)
      const { now, template, workspace } = subject
      if (!template.allow_user_autostop) return yield* Invalid.field("ttl_ms", "the template does not let users set when workspaces stop")
      if (ttl !== 0) return { ...workspace, ttl_ms: yield* validTtl(ttl) }
      const latest = Option.getOrUndefined(yield* builds.latest(workspace.id))
      if (latest?.transition === "start") {
        yield* builds.setDeadlines([{ id: latest.id, deadline: latest.max_deadline, max_deadline: latest.max_deadline }], now)
      }
      return { ...workspace, ttl_ms: null }
    })

  /** Null lets the workspace live on. */
  const withTimeout = (subject: Subject, timeout: number | null) =>
    Effect.gen(function* () {
      yield* requireClaimed(subject)
      const { now, workspace } = subject
      yield* Access.authorize("delete", AccessObjects.workspace(workspace))
      const latest = Option.getOrUndefined(yield* builds.latest(workspace.id))
      const isEnding = latest?.transition === "delete" && isActive(jobStatus(latest.job))
      if (workspace.deleted || isEnding) return yield* new Conflict({ message: "The workspace is deleted or being deleted." })
      return { ...workspace, expires_at: yield* endOfLife(timeout, now) }
    })

  return { withSchedule, withTtl, withTimeout }
}
