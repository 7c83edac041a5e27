import { Cause, Effect, Option } from "effect"
import * as Access from "../../access/Access.js"
import type { Actor } from "../../access/actors/Actor.js"
import { SystemActor } from "../../access/actors/SystemActor.js"
import { Entitlements } from "../../deployment/licenses/Entitlements.js"
import { UserRepository } from "../../identity/users/UserRepository.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { ProvisionerJobs } from "../../provisioning/jobs/ProvisionerJobs.js"
import { TemplateRepository } from "../../templates/TemplateRepository.js"
import { TemplateVersionRepository } from "../../templates/versions/TemplateVersionRepository.js"
import { BuildOrders } from "../builds/BuildOrders.js"
import { ownAddress } from "../builds/OwnAddress.js"
import { WorkspaceBuildRepository } from "../builds/WorkspaceBuildRepository.js"
import { WorkspaceNotifications } from "../notifications/WorkspaceNotifications.js"
import { WorkspaceRepository } from "../WorkspaceRepository.js"
import { WorkspaceLifeCycleRepository } from "./WorkspaceLifeCycleRepository.js"

/** What every worker that builds workspaces without a request needs: the services it calls, and the questions it asks of them. */
export const automaticWork = Effect.gen(function* () {
  const versions = yield* TemplateVersionRepository
  const services = {
    repository: yield* WorkspaceLifeCycleRepository,
    workspaces: yield* WorkspaceRepository,
    builds: yield* WorkspaceBuildRepository,
    templates: yield* TemplateRepository,
    users: yield* UserRepository,
    jobs: yield* ProvisionerJobs,
    orders: yield* BuildOrders,
    notifications: yield* WorkspaceNotifications,
    features: yield* Entitlements
  }

  /** Whether a daemon that could build the version was seen lately. */
  const canBuild = (versionId: Uuid) =>
    Effect.gen(function* () {
      const version = Option.getOrUndefined(yield* versions.byId(versionId))
      if (version === undefined) return false
      return ((yield* services.jobs.matchedProvisioners([version.job_id])).get(version.job_id)?.available ?? 0) > 0
    })

  return { ...services, canBuild }
})

/** A refusal is logged as itself, and anything else with all that is known of it. */
export const failureOf = (cause: Cause.Cause<unknown>): unknown => Option.getOrElse(Cause.failureOption(cause), () => cause)

/** The service as it acts for a workspace's owner. Its builds name the owner as initiator. */
export const actorFor = (userId: Uuid): Actor => ({ ...SystemActor.autostart, userId, ip: ownAddress })

/** Lets the service act for a workspace's owner. */
export const actingForOwner = (userId: Uuid) => Access.actingAs(actorFor(userId))
