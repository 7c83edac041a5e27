import { Context, Effect, type Exit } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { CurrentActor } from "../access/actors/Actor.js"
import type { Entitled } from "../access/streams/StreamRights.js"
import { inactivityTimeout } from "../agents/AgentStatus.js"
import * as Audit from "../audit/Audit.js"
import { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import { GroupRepository } from "../groups/GroupRepository.js"
import { Organizations } from "../organizations/Organizations.js"
import { Forbidden, Gone, Invalid, NotAllowed, type NotFound, type Conflict } from "../platform/Errors.js"
import type { Page } from "../platform/lists/Pagination.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { TemplateRepository } from "../templates/TemplateRepository.js"
import { visibleWorkspace } from "./VisibleWorkspace.js"
import { missingWorkspace, takenWorkspace, validName, type WorkspaceId } from "./Workspace.js"
import { workspaceSubject } from "./WorkspaceAudit.js"
import { watchedWorkspaces } from "./watching/WatchedWorkspaces.js"
import { publishWorkspaceEvent } from "./watching/WorkspaceEvents.js"
import { WorkspaceOwners } from "./WorkspaceOwners.js"
import { type WorkspaceDetails, WorkspaceRepository } from "./WorkspaceRepository.js"
import { parseSearch } from "./views/WorkspaceSearch.js"
import { WorkspaceViews } from "./views/WorkspaceViews.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { WorkspaceView } from "./views/WorkspaceView.js"
import type { Auditing } from "../audit/Audit.js"
import { searchFilter } from "./SearchFilter.js"

const renamesOff = new Invalid({
  message: "Workspaces of this deployment cannot be renamed.",
  detail: "Its option `allow-workspace-renames` is off."
})

/** The methods of {@link Workspaces}. */
export interface WorkspacesService {
  /**
   * One workspace. Fails with `NotFound` where the actor may not read it, with `Gone` when it is deleted and not asked for as such,
   * with `Forbidden` where the actor may not read its template. workspaces.md §3.2.
   */
  readonly get: (
    id: WorkspaceId,
    input: { readonly includeDeleted: boolean }
  ) => Effect.Effect<WorkspaceView, Forbidden | NotFound | Gone, CurrentActor>

  /** A user's workspace by its name without regard to case; a deleted one only if it is asked for and no live one has the name. §3.2. */
  readonly getByName: (
    user: string,
    name: string,
    input: { readonly includeDeleted: boolean }
  ) => Effect.Effect<WorkspaceView, NotFound, CurrentActor>

  /**
   * The workspaces the actor may read that match a search. The count covers all pages; workspaces whose template the actor may not read
   * are counted and left out. At most ten statements, for any length of the page. §3.3.
   */
  readonly list: (
    search: string,
    page: Pick<Page, "limit" | "offset">
  ) => Effect.Effect<{ readonly workspaces: ReadonlyArray<WorkspaceView>; readonly count: number }, Invalid, CurrentActor>

  /**
   * Renames a workspace; nothing happens when it has the name already, whatever else the actor may do with it. Fails with `Invalid` where the deployment allows no renames,
   * with `NotAllowed` when it is deleted, with `Conflict` when another workspace of the owner has the name. §3.4.
   */
  readonly rename: (
    id: WorkspaceId,
    name: string
  ) => Effect.Effect<void, Invalid | Forbidden | NotFound | Conflict | NotAllowed, CurrentActor | Auditing>

  /**
   * Streams the workspace now, and again after each change of it, of its agents and of its template's active version; changes that follow
   * each other faster than the reads count as one. A view that cannot be read is a failed exit, after which the stream goes on. All
   * watchers share one read. Fails with `NotFound` if the actor may not read the workspace. §6.2.
   */
  readonly watch: (id: WorkspaceId) => Effect.Effect<Entitled<Exit.Exit<WorkspaceView, NotFound>>, NotFound, CurrentActor>
}

const make = Effect.gen(function* () {
  const repository = yield* WorkspaceRepository
  const organizations = yield* Organizations
  const groups = yield* GroupRepository
  const templates = yield* TemplateRepository
  const owners = yield* WorkspaceOwners
  const views = yield* WorkspaceViews

  /** A workspace the actor may read, deleted or not. */
  const readable = (id: WorkspaceId) => Effect.flatMap(repository.details(id), (found) => visibleWorkspace(found))

  const canReadTemplate = ({ template }: WorkspaceDetails) => Access.can("read", AccessObjects.template(template))

  const viewOf = (workspace: WorkspaceDetails) =>
    Effect.flatMap(views.workspaces([workspace]), ([view]) => (view === undefined ? missingWorkspace : Effect.succeed(view)))

  const watch = yield* watchedWorkspaces({ repository, views })

  const { filterOf } = searchFilter({ organizations, templates, owners, groups })

  return {
    get: Traced.fn("Workspaces.get")(function* (id: WorkspaceId, { includeDeleted }: { readonly includeDeleted: boolean }) {
      const workspace = yield* readable(id)
      if (workspace.deleted && !includeDeleted) {
        return yield* new Gone({ message: `The workspace "${workspace.name}" has been deleted.` })
      }
      if (!(yield* canReadTemplate(workspace))) return yield* new Forbidden()
      return yield* viewOf(workspace)
    }),

    getByName: Traced.fn("Workspaces.getByName")(function* (
      user: string,
      name: string,
      { includeDeleted }: { readonly includeDeleted: boolean }
    ) {
      const workspace = yield* readable(yield* owners.workspaceId(user, name, includeDeleted))
      return (yield* canReadTemplate(workspace)) ? yield* viewOf(workspace) : yield* missingWorkspace
    }),

    list: Traced.fn("Workspaces.list")(function* (search: string, { limit, offset }: Pick<Page, "limit" | "offset">) {
      const filter = yield* filterOf(yield* parseSearch(search))
      const { agentConnectionUpdateInterval } = yield* DeploymentOptions
      const page = yield* repository.page({
        readable: yield* Access.predicate("read", "workspace"),
        requester: (yield* CurrentActor).userId,
        filter,
        limit,
        offset,
        now: yield* Timestamp.now,
        inactive: inactivityTimeout(agentConnectionUpdateInterval)
      })
      const shown = yield* Access.filter("read", page.workspaces, ({ template }) => AccessObjects.template(template))
      return { workspaces: yield* views.workspaces(shown), count: page.count }
    }),

    rename: Traced.fn("Workspaces.rename")(function* (id: WorkspaceId, name: string) {
      const found = yield* readable(id)
      if (found.name === name) return
      const { allowWorkspaceRenames } = yield* DeploymentOptions
      const deleted = new NotAllowed({ message: "A deleted workspace cannot be renamed." })
      yield* Audit.audited(
        workspaceSubject(found, "write"),
        Effect.gen(function* () {
          yield* validName(name)
          yield* Access.authorizeWrite("update", AccessObjects.workspace(found))
          if (!allowWorkspaceRenames) return yield* renamesOff
          const workspace = yield* Effect.mapError(Effect.flatten(repository.lock(id)), () => missingWorkspace)
          if (workspace.deleted) return yield* deleted
          yield* Effect.catchTag(repository.rename(id, name, yield* Timestamp.now), "Duplicate", () => takenWorkspace(name))
          yield* publishWorkspaceEvent(workspace.owner_id, { kind: "mtd_update", workspace_id: id })
          return { value: undefined, before: workspace, after: { ...workspace, name } }
        })
      )
    }),

    watch: Traced.fn("Workspaces.watch")(watch)
  }
})

/** Workspaces as their readers see and name them. */
export class Workspaces extends Context.Tag("@atelier/core/Workspaces")<Workspaces, WorkspacesService>() {
  static readonly layer = standingOn(service(Workspaces, make), Organizations.layer, WorkspaceOwners.layer, WorkspaceViews.layer)
}
