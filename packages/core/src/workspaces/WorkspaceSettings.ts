import { Context, Effect, Either } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { CurrentActor } from "../access/actors/Actor.js"
import { Entitlements } from "../deployment/licenses/Entitlements.js"
import { type Conflict, Forbidden, type Invalid, NotModified, type NotFound } from "../platform/Errors.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import { effectiveTemplate } from "../templates/settings/EffectiveTemplate.js"
import { resolveParameters } from "../templates/parameters/Parameters.js"
import { TemplateRepository } from "../templates/TemplateRepository.js"
import { TemplateVersionRepository } from "../templates/versions/TemplateVersionRepository.js"
import { asleep, isDormant, woken } from "./lifecycle/Dormancy.js"
import { isPrebuild, missingWorkspace, validAutomaticUpdates, type WorkspaceId } from "./Workspace.js"
import { WorkspaceBuildRepository } from "./builds/WorkspaceBuildRepository.js"
import { WorkspaceNotifications } from "./notifications/WorkspaceNotifications.js"
import { WorkspaceRepository } from "./WorkspaceRepository.js"
import { WorkspaceViews } from "./views/WorkspaceViews.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { Auditing } from "../audit/Audit.js"
import type { WorkspaceView } from "./views/WorkspaceView.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import { requireClaimed, settingChange } from "./SettingChange.js"
import { timeSettings } from "./schedule/TimeSettings.js"

/** The methods of {@link WorkspaceSettings}. */
export interface WorkspaceSettingsService {
  /**
   * Sets when a workspace starts by itself; an absent or empty schedule means never. Fails with `Invalid` for a schedule that is invalid,
   * that the template does not allow, or that has no occurrence on a day that the template allows. §3.4.
   */
  readonly setAutostart: (
    id: WorkspaceId,
    schedule: string
  ) => Effect.Effect<void, Invalid | Forbidden | NotFound | Conflict, CurrentActor | Auditing>

  /**
   * Sets how many milliseconds a start lasts; 0 lets it run until it is stopped, and takes the deadline from one that runs, or leaves the
   * template's. Fails with `Invalid` for a time out of bounds, or if the template lets users choose none. §3.4.
   */
  readonly setTtl: (id: WorkspaceId, ttl: number) => Effect.Effect<void, Invalid | Forbidden | NotFound | Conflict, CurrentActor | Auditing>

  /**
   * Sets after how many milliseconds from now a workspace is deleted, or null for never, and answers it. The actor must be allowed to delete it.
   * Fails with `Invalid` for a time out of bounds, and with `Conflict` if the workspace is deleted or being deleted.
   */
  readonly setTimeout: (
    id: WorkspaceId,
    timeout: number | null
  ) => Effect.Effect<WorkspaceView, Invalid | Forbidden | NotFound | Conflict, CurrentActor | Auditing>

  /**
   * Sets whether scheduled starts move a workspace to its template's active version. Fails with `Invalid` for another word, and with
   * `NotFound` where the actor may update the workspace as a prebuilt one alone. §3.4.
   */
  readonly setAutomaticUpdates: (
    id: WorkspaceId,
    updates: string
  ) => Effect.Effect<void, Invalid | Forbidden | NotFound, CurrentActor | Auditing>

  /**
   * Makes a workspace dormant, which does not stop it, or wakes it, and answers it, also to an actor who may not read a dormant one. Fails
   * with `NotModified` if it is in that state already. §3.4.
   */
  readonly setDormant: (
    id: WorkspaceId,
    dormant: boolean
  ) => Effect.Effect<WorkspaceView, Forbidden | NotFound | Conflict | NotModified, CurrentActor | Auditing>

  /**
   * Whether a scheduled start would fail: it moves the workspace to its template's active version, and a parameter of that has no value
   * that follows from the latest build. §3.4.
   */
  readonly autostartMismatches: (id: WorkspaceId) => Effect.Effect<boolean, Forbidden | NotFound, CurrentActor>

  /** Puts a workspace before the owner's others in the owner's lists. Fails with `Forbidden` unless the actor is the owner. §3.4. */
  readonly addFavorite: (...args: [id: Uuid]) => Effect.Effect<void, Forbidden | NotFound, CurrentActor | Auditing>

  /** Fails as `addFavorite` does. */
  readonly removeFavorite: (...args: [id: Uuid]) => Effect.Effect<void, Forbidden | NotFound, CurrentActor | Auditing>
}

const make = Effect.gen(function* () {
  const workspaces = yield* WorkspaceRepository
  const builds = yield* WorkspaceBuildRepository
  const templates = yield* TemplateRepository
  const versions = yield* TemplateVersionRepository
  const views = yield* WorkspaceViews
  const notifications = yield* WorkspaceNotifications
  const features = yield* Entitlements

  const { readable, change } = settingChange({ workspaces, templates, features })
  const { withTimeout, withTtl, withSchedule } = timeSettings(builds)

  const viewOf = (id: WorkspaceId) =>
    Effect.gen(function* () {
      const changed = yield* Effect.flatMap(workspaces.details(id), Effect.orDie)
      const [view] = yield* views.workspaces([changed])
      return view ?? (yield* missingWorkspace)
    })

  const setFavorite = (favorite: boolean) => (id: WorkspaceId) =>
    Effect.flatMap(CurrentActor, ({ userId }) =>
      Effect.asVoid(
        change(id, ({ workspace }) =>
          workspace.owner_id === userId
            ? Effect.succeed({ ...workspace, favorite })
            : new Forbidden({ message: "Only the owner of a workspace can make it a favorite." })
        )
      )
    )

  return {
    setAutostart: Traced.fn("WorkspaceSettings.setAutostart")(function* (id: WorkspaceId, schedule: string) {
      yield* change(id, (subject) => withSchedule(subject, schedule))
    }),

    setTtl: Traced.fn("WorkspaceSettings.setTtl")(function* (id: WorkspaceId, ttl: number) {
      yield* change(id, (subject) => withTtl(subject, ttl))
    }),

    setTimeout: Traced.fn("WorkspaceSettings.setTimeout")(function* (id: WorkspaceId, timeout: number | null) {
      yield* change(id, (subject) => withTimeout(subject, timeout))
      return yield* viewOf(id)
    }),

    setAutomaticUpdates: Traced.fn("WorkspaceSettings.setAutomaticUpdates")(function* (id: WorkspaceId, updates: string) {
      yield* change(id, ({ workspace }) =>
        Effect.gen(function* () {
          const isKeeper = isPrebuild(workspace) && !(yield* Access.canAsWorkspace("update", AccessObjects.workspace(workspace)))
          if (isKeeper) return yield* missingWorkspace
          return { ...workspace, automatic_updates: yield* validAutomaticUpdates(updates) }
        })
      )
    }),

    setDormant: Traced.fn("WorkspaceSettings.setDormant")(function* (id: WorkspaceId, dormant: boolean) {
      const found = yield* readable(id)
      yield* Access.authorizeWrite("update", AccessObjects.workspace(found))
      if (!isPrebuild(found) && isDormant(found) === dormant) return yield* new NotModified()
      yield* change(id, (subject) =>
        Effect.gen(function* () {
          yield* requireClaimed(subject)
          const { now, template, workspace } = subject
          if (isDormant(workspace) === dormant) return yield* new NotModified()
          if (!dormant) return woken(workspace, template, now)
          const sleeping = asleep(workspace, template, now)
          const { userId } = yield* CurrentActor
          if (userId !== workspace.owner_id) {
            yield* notifications.dormant(sleeping, `a ${yield* notifications.usernameOf(userId)} request`)
          }
          return sleeping
        })
      )
      return yield* viewOf(id)
    }),

    autostartMismatches: Traced.fn("WorkspaceSettings.autostartMismatches")(function* (id: WorkspaceId) {
      const { latest_build, template: stored, ...workspace } = yield* readable(id)
      if (!(yield* Access.can("read", AccessObjects.template(stored)))) return yield* new Forbidden()
      const template = effectiveTemplate(stored, features)
      const moves = template.require_active_version || workspace.automatic_updates === "always"
      if (!moves || latest_build.template_version_id === template.active_version_id) return false
      const resolved = resolveParameters({
        classic: template.use_classic_parameter_flow,
        definitions: yield* versions.parameters(template.active_version_id),
        given: [],
        preset: [],
        previous: yield* builds.parameters(latest_build.id)
      })
      return Either.isLeft(resolved)
    }),

    addFavorite: Traced.fn("WorkspaceSettings.addFavorite")(setFavorite(true)),

    removeFavorite: Traced.fn("WorkspaceSettings.removeFavorite")(setFavorite(false))
  }
})

/** What users choose for their workspaces: schedules, updates, dormancy, favorites. */
export class WorkspaceSettings extends Context.Tag("@atelier/core/WorkspaceSettings")<WorkspaceSettings, WorkspaceSettingsService>() {
  static readonly layer = standingOn(service(WorkspaceSettings, make), WorkspaceNotifications.layer, WorkspaceViews.layer)
}
