import { Context, Effect, Layer, Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { CurrentActor } from "../access/Actor.js"
import { Conflict, Invalid } from "../platform/Errors.js"
import * as Timestamp from "../platform/Timestamp.js"
import { transaction } from "../platform/Transactor.js"
import { extensionViolation } from "./Deadline.js"
import { visibleWorkspace } from "./VisibleWorkspace.js"
import { isPrebuild, missingWorkspace, type WorkspaceId } from "./Workspace.js"
import { WorkspaceBuildRepository } from "./WorkspaceBuildRepository.js"
import { publishWorkspaceEvent } from "./WorkspaceEvents.js"
import { WorkspaceRepository } from "./WorkspaceRepository.js"

const make = Effect.gen(function* () {
  const workspaces = yield* WorkspaceRepository
  const builds = yield* WorkspaceBuildRepository

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
    /**
     * Moves the deadline of a running workspace, to an earlier or later time, and answers it. Fails with `Conflict` if the workspace does not
     * run or has no deadline, and with `Invalid` for a time that is too early or later than the template's required stop. Watchers are told
     * of an attempt too. workspaces.md §3.5.
     */
    extend: Effect.fn("WorkspaceDeadlines.extend")(function* (id: WorkspaceId, wanted: Timestamp.Timestamp | undefined) {
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

/** When running workspaces stop, as their users want it. */
export class WorkspaceDeadlines extends Context.Tag("@atelier/core/WorkspaceDeadlines")<
  WorkspaceDeadlines,
  Effect.Effect.Success<typeof make>
>() {
  static readonly layer = Layer.effect(WorkspaceDeadlines, make)
}
