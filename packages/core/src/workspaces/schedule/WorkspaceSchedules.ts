import { Context, Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import { prebuildsUserId } from "../../access/decisions/Decision.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Entitlements } from "../../deployment/licenses/Entitlements.js"
import { UserRepository } from "../../identity/users/UserRepository.js"
import { Conflict, Invalid, type Forbidden, type NotFound } from "../../platform/Errors.js"
import { storedSchedule } from "../../platform/time/Schedule.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { transaction, type Transactor } from "../../platform/store/Transactor.js"
import { effectiveTemplate } from "../../templates/settings/EffectiveTemplate.js"
import type { TemplateWithNames } from "../../templates/Template.js"
import { TemplateRepository } from "../../templates/TemplateRepository.js"
import { deadlines, extensionViolation, noDeadlines, quietHoursInForce, type Deadlines } from "./Deadline.js"
import { lockedTemplate } from "../LockedTemplate.js"
import { nextScheduledStart } from "./NextScheduledStart.js"
import { visibleWorkspace } from "../VisibleWorkspace.js"
import { isPrebuild, missingWorkspace, type Workspace, type WorkspaceId } from "../Workspace.js"
import type { WorkspaceBuild } from "../builds/WorkspaceBuild.js"
import { WorkspaceBuildRepository } from "../builds/WorkspaceBuildRepository.js"
import { publishWorkspaceEvent } from "../watching/WorkspaceEvents.js"
import { WorkspaceRepository } from "../WorkspaceRepository.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { service } from "../../platform/wiring/Standing.js"
import type { EventBus } from "../../platform/events/EventBus.js"

/** The methods of {@link WorkspaceSchedules}. */
export interface WorkspaceSchedulesService {
  /**
   * Returns when a build that completes now ends, and when its workspace starts by itself next. The template is locked, so that a change of
   * its schedule either comes first or finds the build running. The caller's transaction may have it already.
   */
  readonly afterBuild: (
    workspace: Workspace,
    build: Pick<WorkspaceBuild, "created_at" | "transition">,
    now: Timestamp.Timestamp,
    locked?: TemplateWithNames
  ) => Effect.Effect<{ readonly deadlines: Deadlines; readonly next_start_at: Timestamp.Timestamp | null }>

  /**
   * Moves the deadline of a running workspace, to an earlier or later time, and answers it. Fails with `Conflict` if the workspace does not
   * run or has no deadline, and with `Invalid` for a time that is too early or later than the template's required stop. Watchers are told
   * of an attempt too. workspaces.md §3.5.
   */
  readonly extend: (
    id: WorkspaceId,
    wanted: Timestamp.Timestamp | undefined
  ) => Effect.Effect<Timestamp.Timestamp, Invalid | Forbidden | NotFound | Conflict, CurrentActor | EventBus | Transactor>
}

const make = Effect.gen(function* () {
  const workspaces = yield* WorkspaceRepository
  const builds = yield* WorkspaceBuildRepository
  const templates = yield* TemplateRepository
  const users = yield* UserRepository
  const features = yield* Entitlements
  const options = yield* DeploymentOptions

  /** A workspace whose deadline the actor may move: as a user who may update it, or as one of its agents. */
  const extendable = (id: WorkspaceId) =>
    Effect.gen(function* () {
      const found = yield* workspaces.byId(id)
      const { agentId, workspaceId } = yield* CurrentActor
      if (agentId !== undefined) return workspaceId === id && Option.isSome(found) ? found.value : yield* missingWorkspace
      const workspace = yield* visibleWorkspace(found)
      yield* Access.authorizeWrite("update", AccessObjects.workspace(workspace))
      return workspace
    })

  return {
    afterBuild: (
      workspace: Workspace,
      build: Pick<WorkspaceBuild, "created_at" | "transition">,
      now: Timestamp.Timestamp,
      locked?: TemplateWithNames
    ) =>
      Effect.gen(function* () {
        const owner = yield* Effect.flatMap(users.byId(workspace.owner_id), Effect.orDie)
        const template = effectiveTemplate(locked ?? (yield* lockedTemplate(templates, workspace)), features)
        const ends =
          owner.id === prebuildsUserId
            ? noDeadlines
            : deadlines({
                completed: now,
                template,
                ttl_ms: workspace.ttl_ms,
                autostart: storedSchedule(workspace.autostart_schedule),
                quietHours: quietHoursInForce(options, owner.quiet_hours_schedule)
              })
        // A stop that lasts over a scheduled start does not swallow it
        const from = build.transition === "stop" ? build.created_at : now
        return { deadlines: ends, next_start_at: nextScheduledStart(workspace, template, from) }
      }),

    extend: Traced.fn("WorkspaceSchedules.extend")(function* (id: WorkspaceId, wanted: Timestamp.Timestamp | undefined) {
      const workspace = yield* extendable(id)
      const attempt = Effect.gen(function* () {
        if (wanted === undefined || Timestamp.toMillis(wanted) <= Timestamp.toMillis(Timestamp.never)) {
          return yield* Invalid.field("deadline", "is required")
        }
        if (isPrebuild(workspace)) return yield* new Conflict({ message: "A prebuilt workspace has no deadline." })
        const build = Option.getOrUndefined(yield* builds.lockLatest(id))
        if (build === undefined || build.transition !== "start") return yield* new Conflict({ message: "The workspace is not started." })
        const { completed_at, error } = build.job
        if (completed_at === null || error !== "") return yield* new Conflict({ message: "The workspace has not started yet." })
        if (build.deadline === null) return yield* new Conflict({ message: "The workspace runs until it is stopped: it has no deadline." })
        const now = yield* Timestamp.now
        const violation = extensionViolation({ now, completed: completed_at, wanted, max_deadline: build.max_deadline })
        if (violation !== undefined) return yield* new Invalid({ message: violation })
        yield* builds.setDeadlines([{ id: build.id, deadline: wanted, max_deadline: build.max_deadline }], now)
        return wanted
      })
      return yield* Effect.ensuring(
        transaction(attempt),
        publishWorkspaceEvent(workspace.owner_id, { kind: "mtd_update", workspace_id: id })
      )
    })
  }
})

/** When workspaces start and stop by themselves. */
export class WorkspaceSchedules extends Context.Tag("@atelier/core/WorkspaceSchedules")<WorkspaceSchedules, WorkspaceSchedulesService>() {
  static readonly layer = service(WorkspaceSchedules, make)
}
