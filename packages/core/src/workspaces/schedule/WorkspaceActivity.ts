import { Effect, Option } from "effect"
import { ActivityReports } from "../../agents/reports/ActivityReports.js"
import { makeBatch } from "../../agents/reports/Batch.js"
import { Entitlements } from "../../deployment/licenses/Entitlements.js"
import { storedSchedule } from "../../platform/time/Schedule.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { jobStatus } from "../../provisioning/jobs/ProvisionerJob.js"
import { effectiveTemplate } from "../../templates/settings/EffectiveTemplate.js"
import { TemplateRepository } from "../../templates/TemplateRepository.js"
import { bumped } from "./Deadline.js"
import { isPrebuild } from "../Workspace.js"
import { WorkspaceBuildRepository } from "../builds/WorkspaceBuildRepository.js"
import { WorkspaceNotifications } from "../notifications/WorkspaceNotifications.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import { WorkspaceRepository } from "../WorkspaceRepository.js"

/** How long a sign of use waits to be written. workspaces.md §5.4. */
const flushInterval = "60 seconds"

/** Workspaces whose use waits to be written; one statement writes at most as many. */
const capacity = 10_000
const threshold = 1_000

const make = Effect.gen(function* () {
  const workspaces = yield* WorkspaceRepository
  const builds = yield* WorkspaceBuildRepository
  const templates = yield* TemplateRepository
  const features = yield* Entitlements
  const notifications = yield* WorkspaceNotifications

  const used = yield* makeBatch<Uuid>({
    name: "last uses of workspaces",
    key: (id) => id,
    every: flushInterval,
    threshold,
    capacity,
    write: (ids) => Effect.flatMap(Timestamp.now, (now) => workspaces.markUsed(ids, now))
  })

  return ActivityReports.of({
    bump: (workspaceId, { considerAutostart }) =>
      Effect.gen(function* () {
        const build = Option.getOrUndefined(yield* builds.latest(workspaceId))
        if (build === undefined || build.deadline === null || build.transition !== "start" || jobStatus(build.job) !== "succeeded") return
        const workspace = yield* Effect.flatMap(workspaces.byId(workspaceId), Effect.orDie)
        if (isPrebuild(workspace)) return
        const stored = yield* Effect.flatMap(templates.byId(workspace.template_id), Effect.orDie)
        const now = yield* Timestamp.now
        const later = bumped({
          now,
          template: effectiveTemplate(stored, features),
          ttl_ms: workspace.ttl_ms,
          autostart: considerAutostart ? storedSchedule(workspace.autostart_schedule) : null,
          deadline: build.deadline,
          max_deadline: build.max_deadline
        })
        // The update is skipped if the deadline was moved concurrently
        if (later !== null) yield* builds.moveDeadline(build.id, build.deadline, later, now)
      }),
    taskState: (workspaceId, appId, state) => notifications.taskState(workspaceId, appId, state),
    thresholdsReached: (workspaceId, reached) => notifications.thresholdsReached(workspaceId, reached),
    markUsed: (workspaceId) => Effect.asVoid(used.add(workspaceId))
  })
})

/** The effects of use on a workspace. workspaces.md §5.3, §5.4. */
export const workspaceActivity = standingOn(service(ActivityReports, make), WorkspaceNotifications.layer)
