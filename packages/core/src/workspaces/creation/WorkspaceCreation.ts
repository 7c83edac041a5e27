import { Context, Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import * as Audit from "../../audit/Audit.js"
import type { AuditRepository } from "../../audit/AuditRepository.js"
import { Organizations } from "../../organizations/Organizations.js"
import {
  type Conflict,
  type Forbidden,
  type Invalid,
  NotFound,
  refuseViolations,
  type UpstreamFailure,
  type TimedOut,
  type Unacceptable
} from "../../platform/Errors.js"
import type { EventBus } from "../../platform/events/EventBus.js"
import { Ids } from "../../platform/Ids.js"
import * as Measure from "../../platform/Measure.js"
import { countChange } from "../../platform/store/Transactor.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import type { TaskPrompt } from "../../provisioning/engines/ProvisionerEngine.js"
import type { ParameterValue } from "../../provisioning/engines/SourceDefinitions.js"
import { ExternalAuthRequirements } from "../../externalAuth/ExternalAuthRequirements.js"
import { TemplateRepository } from "../../templates/TemplateRepository.js"
import { TemplateVersionRepository } from "../../templates/versions/TemplateVersionRepository.js"
import { BuildOrders } from "../builds/BuildOrders.js"
import { endOfLife } from "../lifecycle/Lifetime.js"
import type { PreparedHandOver } from "../prebuilds/HandOvers.js"
import { PrebuiltWorkspaces } from "../prebuilds/PrebuiltWorkspaces.js"
import { takenWorkspace, type Workspace } from "../Workspace.js"
import { buildAuditFields, workspaceSubject } from "../WorkspaceAudit.js"
import { WorkspaceNotifications } from "../notifications/WorkspaceNotifications.js"
import { WorkspaceOwners } from "../WorkspaceOwners.js"
import { WorkspaceRepository } from "../WorkspaceRepository.js"
import { WorkspaceViews } from "../views/WorkspaceViews.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { WorkspaceView } from "../views/WorkspaceView.js"
import type { Auditing } from "../../audit/Audit.js"
import { requestViolations, settingsOf, creationRequest } from "./CreationRequest.js"
import { requireAdmitted, WorkspaceAdmission } from "./WorkspaceAdmission.js"

/** A requested workspace. Exactly one of template and version is given; absent texts are empty. */
export interface NewWorkspace {
  readonly name: string
  readonly template_id?: Uuid | undefined
  readonly template_version_id?: Uuid | undefined
  readonly template_version_preset_id?: Uuid | undefined
  readonly autostart_schedule: string
  /** Milliseconds; 0 for the template's default. */
  readonly ttl_ms: number
  /** Milliseconds after which the workspace is deleted; absent lives until it is deleted. */
  readonly timeout_ms?: number | null | undefined
  /** `always`, `never`, or empty for `never`. */
  readonly automatic_updates: string
  readonly rich_parameter_values: ReadonlyArray<ParameterValue>
}

/** The owner of a new workspace: a user, named alone or as a member of an organization. */
export interface WorkspacePlace {
  readonly user: string
  readonly organization?: string | undefined
}

/** A task that a workspace is made for. It is stored in the workspace's transaction. */
export interface CreatedTask extends TaskPrompt {
  readonly store: (workspace: Workspace) => Effect.Effect<void, Conflict, AuditRepository | CurrentActor | EventBus | Ids>
}

const creations = Measure.counter("workspace_creation_total", "Workspaces that were created.", [
  "organization_name",
  "template_name",
  "preset_name"
])

/** The methods of {@link WorkspaceCreation}. */
export interface WorkspaceCreationService {
  /**
   * Creates a workspace, and the task that it is made for, and queues its first start. Fails with the first rule that is broken, in the order of workspaces.md §3.1: of
   * callers that race for a name, one succeeds and the others fail with `Conflict`. The host's rule (`WorkspaceAdmission`) is asked last, and refuses with `Forbidden`.
   */
  readonly create: (
    place: WorkspacePlace,
    request: NewWorkspace,
    task?: CreatedTask
  ) => Effect.Effect<
    WorkspaceView,
    Invalid | Forbidden | NotFound | Conflict | UpstreamFailure | Unacceptable | TimedOut,
    CurrentActor | Auditing
  >
}

const make = Effect.gen(function* () {
  const workspaces = yield* WorkspaceRepository
  const templates = yield* TemplateRepository
  const versions = yield* TemplateVersionRepository
  const organizations = yield* Organizations
  const owners = yield* WorkspaceOwners
  const orders = yield* BuildOrders
  const views = yield* WorkspaceViews
  const notifications = yield* WorkspaceNotifications
  const externalAuth = yield* ExternalAuthRequirements
  const prebuilt = yield* PrebuiltWorkspaces
  const ids = yield* Ids
  const admission = yield* WorkspaceAdmission

  const { ownerOf, templateOf, requireExternalAuth, requireUsable, requireStillUsable } = creationRequest({
    owners,
    organizations,
    versions,
    templates,
    externalAuth
  })

  return {
    create: Traced.fn("WorkspaceCreation.create")(function* (place: WorkspacePlace, request: NewWorkspace, task?: CreatedTask) {
      const owner = yield* ownerOf(place)
      yield* refuseViolations(requestViolations(request))
      const template = yield* templateOf(request)
      const { organization_id } = template
      if (place.organization === undefined) yield* owners.requireReadableIn(owner, organization_id)
      yield* Access.authorize("create", AccessObjects.ownedIn("workspace", organization_id, owner.id))
      yield* requireUsable(template)
      yield* requireExternalAuth(request.template_version_id ?? template.active_version_id, owner.id)
      const settings = yield* settingsOf(request, template)
      const now = yield* Timestamp.now
      const expires_at = yield* endOfLife(request.timeout_ms, now)
      if (Option.isSome(yield* workspaces.idByName(owner.id, request.name, false))) return yield* takenWorkspace(request.name)

      const workspace: Workspace = {
        id: yield* ids.next,
        created_at: now,
        updated_at: now,
        owner_id: owner.id,
        organization_id,
        template_id: template.id,
        deleted: false,
        name: request.name,
        last_used_at: now,
        favorite: false,
        user_acl: {},
        group_acl: {},
        task_id: task?.id ?? null,
        expires_at,
        ...settings
      }
      const prepared = yield* orders.prepare(
        { workspace, template, owner, task, previous: null },
        { ...request, transition: "start", reason: "initiator" }
      )
      yield* requireAdmitted(admission, {
        name: request.name,
        owner: { id: owner.id, username: owner.username },
        organization: { id: organization_id, name: template.organization_name },
        template: { id: template.id, name: template.name },
        initiator_id: (yield* CurrentActor).userId,
        is_task: task !== undefined,
        rich_parameter_values: request.rich_parameter_values
      })
      const stored = (ready: PreparedHandOver | undefined) =>
        Audit.audited(
          {
            ...workspaceSubject(workspace, "create"),
            additional_fields: { ...buildAuditFields, workspace_owner: owner.username }
          },
          Effect.gen(function* () {
            // The lock keeps the template from being deleted and changed
            const locked = Option.getOrUndefined(yield* templates.lockShared(template.id))
            if (locked === undefined) return yield* new NotFound({ resource: "template" })
            yield* requireStillUsable(locked, prepared.version)
            yield* countChange(creations(template.organization_name, template.name, prepared.chosen?.name ?? ""))
            const claimed = task === undefined ? yield* prebuilt.claim(prepared, workspace, { ready, template: locked }) : undefined
            if (claimed !== undefined) {
              yield* notifications.created(prepared)
              const { id } = claimed.workspace
              const created = yield* Effect.flatMap(workspaces.details(id), Effect.orDie)
              return { value: { created, settle: claimed.settle }, id, after: claimed.workspace }
            }
            const isStored = yield* Effect.catchTag(workspaces.insert(workspace), "Duplicate", () => takenWorkspace(workspace.name))
            if (!isStored) return yield* new NotFound({ resource: "user" })
            yield* orders.enqueue(prepared)
            if (task !== undefined) yield* task.store(workspace)
            yield* notifications.created(prepared)
            const created = yield* Effect.flatMap(workspaces.details(workspace.id), Effect.orDie)
            return { value: { created, settle: Effect.void }, after: workspace }
          })
        )
      const created = yield* Effect.scoped(
        Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            const ready = task === undefined ? yield* restore(prebuilt.ready(prepared, workspace)) : undefined
            const { created, settle } = yield* restore(stored(ready))
            // A caller that is gone by now leaves a workspace whose agents have to know their owner
            yield* settle
            return created
          })
        )
      )
      return yield* views.newWorkspace(created)
    })
  }
})

/** How workspaces come to be. */
export class WorkspaceCreation extends Context.Tag("@atelier/core/WorkspaceCreation")<WorkspaceCreation, WorkspaceCreationService>() {
  static readonly layer = standingOn(
    service(WorkspaceCreation, make),
    Organizations.layer,
    WorkspaceOwners.layer,
    BuildOrders.layer,
    PrebuiltWorkspaces.layer,
    WorkspaceNotifications.layer,
    WorkspaceViews.layer,
    ExternalAuthRequirements.layer
  )
}
