import { Array as Arr, Context, Effect, type Exit, Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { CurrentActor } from "../access/actors/Actor.js"
import { type Entitled, rightTo } from "../access/streams/StreamRights.js"
import { inactivityTimeout } from "../agents/AgentStatus.js"
import * as Audit from "../audit/Audit.js"
import { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import { GroupRepository } from "../groups/GroupRepository.js"
import { Organizations } from "../organizations/Organizations.js"
import { Forbidden, Gone, Invalid, NotAllowed, type NotFound, type Conflict } from "../platform/Errors.js"
import type { Page } from "../platform/lists/Pagination.js"
import { makeGathering } from "../platform/background/Gathering.js"
import { makeSharedReads, type SharedReads, source } from "../platform/events/SharedReads.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import { activeVersionChanges } from "../templates/TemplateEvents.js"
import { TemplateRepository } from "../templates/TemplateRepository.js"
import { visibleWorkspace } from "./VisibleWorkspace.js"
import { missingWorkspace, takenWorkspace, validName, type WorkspaceId } from "./Workspace.js"
import { workspaceSubject } from "./WorkspaceAudit.js"
import { publishWorkspaceEvent, workspaceEvents } from "./watching/WorkspaceEvents.js"
import { WorkspaceOwners } from "./WorkspaceOwners.js"
import { type WorkspaceDetails, WorkspaceRepository } from "./WorkspaceRepository.js"
import { parseSearch } from "./views/WorkspaceSearch.js"
import { type SeenWorkspace, WorkspaceViews } from "./views/WorkspaceViews.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { WorkspaceView } from "./views/WorkspaceView.js"
import type { Auditing } from "../audit/Audit.js"
import { searchFilter } from "./SearchFilter.js"

/** A workspace, and what its changes are told by. */
interface WatchedWorkspace extends Readonly<Record<"id" | "owner_id" | "template_id", Uuid>> {}

/** How often a watched workspace is read without an event. */
const recheck = "30 seconds"

/** The largest number of watched workspaces that are read together: on SQLite, other requests wait for as long. */
const watchedAtOnce = 32

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

  /**
   * A change during a read makes the view be read once more. Changes without an event, such as that of a schedule, show at the next
   * recheck.
   */
  const watched = yield* makeSharedReads<WatchedWorkspace>({
    nameOf: ({ id, owner_id, template_id }) => [id, owner_id, template_id].join(" "),
    sourcesOf: ({ owner_id, template_id }) => [
      source(workspaceEvents(owner_id), ({ workspace_id }, { id }) => workspace_id === id),
      source(activeVersionChanges(template_id))
    ],
    every: recheck
  })

  // Those that are rechecked at the same time are read together
  const services = yield* Effect.context<never>()
  const readDetails = yield* makeGathering({
    name: "watched_workspaces",
    key: (id: WorkspaceId) => id,
    most: watchedAtOnce,
    work: (ids) =>
      Effect.map(repository.detailsOf(ids), (found) => {
        const byId = new Map(found.map((workspace) => [workspace.id, workspace]))
        return (id) => Option.fromNullable(byId.get(id))
      })
  })
  const readView = yield* makeGathering({
    name: "watched_views",
    key: ({ workspace }: SeenWorkspace) => workspace.id,
    most: watchedAtOnce,
    work: (found) =>
      Effect.map(Effect.provide(views.seen(found), services), (made) => {
        const byItem = new Map(Arr.zip(found, made))
        return (item) => byItem.get(item)
      })
  })

  const viewFor = (seen: SeenWorkspace) =>
    Effect.flatMap(readView(seen), (view) => (view === undefined ? missingWorkspace : Effect.succeed(view)))

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

    watch: Traced.fn("Workspaces.watch")(function* (id: WorkspaceId) {
      const [right, { owner_id, template_id }] = yield* rightTo(`workspace:${id}`, () =>
        // It is judged again every few seconds, and no permission asks for the rest
        Effect.flatMap(repository.byId(id), (found) => visibleWorkspace(found))
      )
      const load = (shared: SharedReads) =>
        Effect.gen(function* () {
          const workspace = yield* shared.once("details", readDetails(id))
          const seen = yield* visibleWorkspace(workspace)
          // Owners see more of their workspaces than others do
          return yield* shared.once(
            right.actor.userId === owner_id ? "owner's view" : "view",
            viewFor({ workspace: seen, userId: right.actor.userId })
          )
        }).pipe(Effect.provideService(CurrentActor, right.actor))
      const values = watched({ id, owner_id, template_id }, (shared) => ({
        // Made for each pull: it would take 1 KB of each watcher that waits
        pull: () => Effect.map(Effect.exit(load(shared)), (view) => Option.some([view]))
      }))
      return { right, values }
    })
  }
})

/** Workspaces as their readers see and name them. */
export class Workspaces extends Context.Tag("@atelier/core/Workspaces")<Workspaces, WorkspacesService>() {
  static readonly layer = standingOn(service(Workspaces, make), Organizations.layer, WorkspaceOwners.layer, WorkspaceViews.layer)
}
