/** Workspaces as their watchers see them. workspaces.md §6.2. */
import { Array as Arr, Effect, Exit, Option } from "effect"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import { permits } from "../../access/decisions/Decision.js"
import { type CommonJudgement, rightTo } from "../../access/streams/StreamRights.js"
import { statusAt } from "../../agents/AgentStatus.js"
import { viewContext } from "../../agents/AgentView.js"
import { Entitlements } from "../../deployment/licenses/Entitlements.js"
import * as Lru from "../../platform/collections/Lru.js"
import { makeGathering } from "../../platform/background/Gathering.js"
import { makeSharedReads, type SharedReads, source } from "../../platform/events/SharedReads.js"
import { fingerprint } from "../../platform/texts/fingerprint.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { activeVersionChanges } from "../../templates/TemplateEvents.js"
import { templateFeatures } from "../../templates/settings/EffectiveTemplate.js"
import type { WorkspaceView } from "../views/WorkspaceView.js"
import type { SeenWorkspace, WorkspaceViews } from "../views/WorkspaceViews.js"
import { visibleWorkspace } from "../VisibleWorkspace.js"
import { missingWorkspace, type WorkspaceId } from "../Workspace.js"
import type { WorkspaceDetails, WorkspaceRepository } from "../WorkspaceRepository.js"
import { workspaceEvents } from "./WorkspaceEvents.js"

/** A workspace, and what its changes are told by. */
interface WatchedWorkspace extends Readonly<Record<"id" | "owner_id" | "template_id", Uuid>> {}

/** How often a watched workspace is read without an event. */
const recheck = "30 seconds"

/** The largest number of watched workspaces that are read together: on SQLite, other requests wait for as long. */
const watchedAtOnce = 32

/** Workspaces whose last rechecks are kept: with more, those that were rechecked longest ago are read as a whole. */
const keptRechecks = 16_384

/** What a watcher was shown. */
interface Shown {
  readonly fingerprint: number
  /** Shown to the owner alone. */
  readonly favorite: boolean
}

/**
 * Sums up what a view shows, and what the right to it depends on. When agents were last heard of does not count: that changes every few seconds, and an agent that is heard of no more
 * has another status.
 */
const shownBy = (workspace: WorkspaceDetails, view: WorkspaceView): Shown => {
  const { favorite, latest_build } = view
  const resources = latest_build.resources.map((resource) => ({
    ...resource,
    agents: resource.agents.map((agent) => ({ ...agent, last_connected_at: undefined }))
  }))
  const counted = { ...view, favorite: undefined, latest_build: { ...latest_build, resources } }
  return { fingerprint: fingerprint(JSON.stringify([AccessObjects.workspace(workspace), counted])), favorite }
}

interface Needs {
  readonly repository: WorkspaceRepository["Type"]
  readonly views: WorkspaceViews["Type"]
}

/** Makes what watches workspaces (`WorkspacesService.watch`), until the scope closes. */
export const watchedWorkspaces = ({ repository, views }: Needs) =>
  Effect.gen(function* () {
    const services = yield* Effect.context<never>()

    /** Judges who may still read workspaces: a statement for each of thousands of watchers takes a hundredth of a core. */
    const judgeReaders: CommonJudgement = (asked) =>
      Effect.map(repository.byIds(asked.map(({ objectId }) => objectId)), (found) => {
        const objects = new Map(found.map((workspace) => [workspace.id, AccessObjects.workspace(workspace)]))
        return ({ actor, objectId }) => {
          const object = objects.get(objectId)
          return object !== undefined && permits(actor.subject, "read", object) ? undefined : missingWorkspace
        }
      })

    /** What the owners of workspaces were shown by the last rechecks, and what that was made of. */
    const rechecked = Lru.make<WorkspaceId, { readonly madeOf: number; readonly shown: Shown }>(keptRechecks)

    /** Sums up what the views of workspaces are made of. Those whose views depend on other workspaces' jobs are missing. */
    const sourcesNow = (ids: ReadonlyArray<WorkspaceId>) =>
      Effect.gen(function* () {
        const states = yield* repository.statesOf(ids)
        const { inactive, now } = yield* viewContext(null)
        const licensed = yield* Entitlements
        const enabled = templateFeatures.filter((feature) => licensed.has(feature)).join()
        const madeOf = new Map<WorkspaceId, number>()
        for (const { agents, id, state } of states) {
          const connections = agents.flatMap((agent) => Object.values(statusAt(agent, now, inactive)))
          if (state !== null) madeOf.set(id, fingerprint([enabled, ...connections, state].join(" ")))
        }
        return madeOf
      })

    /** What the owners of workspaces are shown now. Views are made again only where something has changed that they are made of. */
    const shownNow = (keys: ReadonlyArray<WatchedWorkspace>) =>
      Effect.gen(function* () {
        const madeOf = yield* sourcesNow(keys.map(({ id }) => id))
        const byId = new Map<WorkspaceId, Shown>()
        for (const [id, now] of madeOf) {
          const before = rechecked.get(id)
          if (before?.madeOf === now) byId.set(id, before.shown)
        }
        const changed = keys.flatMap(({ id }) => (byId.has(id) ? [] : [id]))
        const found = changed.length === 0 ? [] : yield* repository.detailsOf(changed)
        const made = yield* views.seen(found.map((workspace) => ({ workspace, userId: workspace.owner_id })))
        // A view that something changed during its reading may be made of either
        const after = changed.length === 0 ? madeOf : yield* sourcesNow(changed)
        for (const [workspace, view] of Arr.zip(found, made)) {
          const { id } = workspace
          const [before, shown] = [madeOf.get(id), shownBy(workspace, view)]
          byId.set(id, shown)
          if (before !== undefined && before === after.get(id)) rechecked.set(id, { madeOf: before, shown })
        }
        return ({ id }: WatchedWorkspace) => byId.get(id)
      }).pipe(Effect.provide(services))

    /**
     * A change during a read makes the view be read once more. Changes without an event, such as that of a schedule, show at the next
     * recheck.
     */
    const watched = yield* makeSharedReads<WatchedWorkspace, Shown | undefined>({
      nameOf: ({ id, owner_id, template_id }) => [id, owner_id, template_id].join(" "),
      sourcesOf: ({ owner_id, template_id }) => [
        source(workspaceEvents(owner_id), ({ workspace_id }, { id }) => workspace_id === id),
        source(activeVersionChanges(template_id))
      ],
      every: recheck,
      recheck: shownNow
    })

    // Those that are read at the same time are read together
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
      Effect.flatMap(readView(seen), (view) =>
        view === undefined ? missingWorkspace : Effect.succeed({ view, shown: shownBy(seen.workspace, view) })
      )

    return (id: WorkspaceId) =>
      Effect.gen(function* () {
        const [own, { owner_id, template_id }] = yield* rightTo(`workspace:${id}`, () =>
          // It is judged again every few seconds, and no permission asks for the rest
          Effect.flatMap(repository.byId(id), (found) => visibleWorkspace(found))
        )
        const right = own.judgedBy(judgeReaders, id)
        const isOwner = right.actor.userId === owner_id
        const load = (shared: SharedReads) =>
          Effect.gen(function* () {
            const workspace = yield* visibleWorkspace(yield* shared.once("details", readDetails(id)))
            // Owners see more of their workspaces than others do
            return yield* shared.once(isOwner ? "owner's view" : "view", viewFor({ workspace, userId: right.actor.userId }))
          }).pipe(Effect.provideService(CurrentActor, right.actor))
        const values = watched({ id, owner_id, template_id }, (shared) => {
          let shown: Shown | undefined
          return {
            // Made for each pull: it would take 1 KB of each watcher that waits
            pull: () =>
              Effect.map(Effect.exit(load(shared)), (loaded) => {
                shown = Exit.isSuccess(loaded) ? loaded.value.shown : undefined
                return Option.some([Exit.map(loaded, ({ view }) => view)])
              }),
            isCurrent: (now) =>
              now !== undefined &&
              shown !== undefined &&
              shown.fingerprint === now.fingerprint &&
              shown.favorite === (isOwner && now.favorite)
          }
        })
        return { right, values }
      })
  })
