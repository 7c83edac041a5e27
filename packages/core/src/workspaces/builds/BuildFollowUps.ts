/** Queues the starts that follow stops. workspaces.md §4.1. */
import { Duration, Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import { SystemActor } from "../../access/actors/SystemActor.js"
import { Entitlements } from "../../deployment/licenses/Entitlements.js"
import { UserRepository } from "../../identity/users/UserRepository.js"
import type { ServiceError } from "../../platform/Errors.js"
import * as Background from "../../platform/background/Background.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { transaction } from "../../platform/store/Transactor.js"
import { jobStatus } from "../../provisioning/jobs/ProvisionerJob.js"
import { effectiveTemplate } from "../../templates/settings/EffectiveTemplate.js"
import { TemplateRepository } from "../../templates/TemplateRepository.js"
import { type BuildFollowUp, type FollowUpEvent, followUpTransitions } from "./BuildFollowUp.js"
import { BuildFollowUpRepository } from "./BuildFollowUpRepository.js"
import { BuildOrders } from "./BuildOrders.js"
import { WorkspaceBuildRepository } from "./WorkspaceBuildRepository.js"
import { isDormant } from "../lifecycle/Dormancy.js"
import { publishWorkspaceEvent } from "../watching/WorkspaceEvents.js"
import { WorkspaceRepository } from "../WorkspaceRepository.js"

/** Follow-ups of one look. */
const batch = 50

const retryDelay = Duration.seconds(30)
const maximumRetries = 3

/** How long it is kept what became of a follow-up. */
const kept = Duration.hours(24)

/** Refusals that another try would meet again. */
const isFinal = ({ _tag }: ServiceError): boolean => _tag === "Invalid" || _tag === "Forbidden" || _tag === "NotFound"

const moved = (followUp: BuildFollowUp, event: FollowUpEvent) =>
  Effect.gen(function* () {
    const now = yield* Timestamp.now
    const transitions: Partial<Record<FollowUpEvent, BuildFollowUp["status"]>> = followUpTransitions[followUp.status]
    return yield* (yield* BuildFollowUpRepository).move({
      ...followUp,
      status: transitions[event] ?? followUp.status,
      attempts: followUp.attempts + (event === "retry" ? 1 : 0),
      due_at: event === "retry" ? Timestamp.plus(now, retryDelay) : followUp.due_at,
      updated_at: now
    })
  })

/** Queues the start on behalf of the user who requested the stop; the permissions were checked then. */
const follow = (followUp: BuildFollowUp) =>
  Effect.gen(function* () {
    const users = yield* UserRepository
    const orders = yield* BuildOrders
    const parent = yield* Effect.flatMap(
      Effect.flatMap(WorkspaceBuildRepository, ({ byId }) => byId(followUp.build_id)),
      Effect.orDie
    )
    const workspaces = yield* WorkspaceRepository
    const workspace = yield* Effect.flatMap(workspaces.details(parent.workspace_id), Effect.orDie)
    const initiator = Option.getOrUndefined(yield* users.byId(parent.initiator_id))
    const mayAsk = initiator !== undefined && !initiator.deleted && initiator.status !== "suspended"
    // A later build replaces the follow-up
    const isWanted = jobStatus(parent.job) === "succeeded" && workspace.latest_build.id === parent.id
    if (!mayAsk || !isWanted || workspace.deleted || isDormant(workspace)) return yield* Effect.asVoid(moved(followUp, "drop"))

    const stored = yield* Effect.flatMap(
      Effect.flatMap(TemplateRepository, ({ byId }) => byId(workspace.template_id)),
      Effect.orDie
    )
    const template = effectiveTemplate(stored, yield* Entitlements)
    const asInitiator = Access.actingAs({ ...SystemActor.autostart, userId: parent.initiator_id, ip: parent.initiator_ip })
    yield* Effect.gen(function* () {
      const prepared = yield* orders.prepare(
        {
          workspace,
          template,
          owner: yield* Effect.flatMap(users.byId(workspace.owner_id), Effect.orDie),
          previous: workspace.latest_build
        },
        {
          transition: "start",
          reason: parent.reason,
          template_version_id: followUp.template_version_id ?? template.active_version_id,
          template_version_preset_id: followUp.template_version_preset_id ?? undefined,
          rich_parameter_values: followUp.rich_parameter_values,
          log_level: parent.job.input.log_level
        }
      )
      yield* transaction(
        Effect.gen(function* () {
          // It may have become dormant since it was read
          const locked = yield* Effect.flatMap(workspaces.lock(workspace.id), Effect.orDie)
          if (isDormant(locked)) return yield* Effect.asVoid(moved(followUp, "drop"))
          if (!(yield* moved(followUp, "queue"))) return
          yield* orders.enqueue(prepared)
          yield* publishWorkspaceEvent(workspace.owner_id, { kind: "state_change", workspace_id: workspace.id })
        })
      )
    }).pipe(asInitiator)
  })

/** Looks for stops that have ended and queues what follows them. */
export const buildFollowUps = {
  name: "build_follow_ups",
  every: Duration.seconds(2),
  run: Effect.gen(function* () {
    const repository = yield* BuildFollowUpRepository
    const now = yield* Timestamp.now
    yield* Background.each("build_follow_ups", yield* repository.due(now, batch), (followUp) =>
      follow(followUp).pipe(
        Effect.catchAll((error) => moved(followUp, isFinal(error) || followUp.attempts >= maximumRetries ? "fail" : "retry")),
        Effect.catchAllDefect((defect) =>
          Effect.zipRight(
            Effect.logError("a build that follows another could not be queued", defect),
            moved(followUp, followUp.attempts >= maximumRetries ? "fail" : "retry")
          )
        ),
        Effect.annotateLogs({ build: followUp.build_id })
      )
    )
    yield* repository.purge(Timestamp.minus(now, kept))
  })
}
