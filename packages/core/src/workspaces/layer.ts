/** How this area is wired: its services, its background work, and what it needs stored. */
import { Effect } from "effect"
import * as Worker from "../platform/background/Worker.js"
import { AppAccess } from "./apps/AppAccess.js"
import type { BuildFollowUpRepository } from "./builds/BuildFollowUpRepository.js"
import { buildFollowUps } from "./builds/BuildFollowUps.js"
import { BuildInputs } from "./builds/BuildInputs.js"
import { buildJobs } from "./builds/BuildJobs.js"
import { BuildOrders } from "./builds/BuildOrders.js"
import { BuildOutcomes } from "./builds/BuildOutcomes.js"
import { BuildStates, sealedColumns } from "./builds/BuildStates.js"
import { BuildTimings } from "./builds/BuildTimings.js"
import { BuildWatches } from "./watching/BuildWatches.js"
import type { FailedBuildRepository } from "./notifications/FailedBuildRepository.js"
import { failedBuildsReport } from "./notifications/FailedBuilds.js"
import { fetchableObjects } from "./FetchableObjects.js"
import type { HostKeyRepository } from "./hostKeys/HostKeyRepository.js"
import { GatewayKey } from "./hostKeys/GatewayKey.js"
import { HostKeys } from "./hostKeys/HostKeys.js"
import { OwnerWatches } from "./watching/OwnerWatches.js"
import type { ParameterAutofillRepository } from "./creation/ParameterAutofillRepository.js"
import type { PortShareRepository } from "./sharing/PortShareRepository.js"
import { PortShares } from "./sharing/PortShares.js"
import { Prebuilds } from "./prebuilds/Prebuilds.js"
import { PrebuiltWorkspaces } from "./prebuilds/PrebuiltWorkspaces.js"
import type { PrebuildRepository } from "./prebuilds/PrebuildRepository.js"
import type { QuotaRepository } from "./quotas/QuotaRepository.js"
import { scheduleChanges } from "./schedule/ScheduleChanges.js"
import { workspaceActivity } from "./schedule/WorkspaceActivity.js"
import { WorkspaceBuildCreation } from "./builds/WorkspaceBuildCreation.js"
import type { WorkspaceBuildRepository } from "./builds/WorkspaceBuildRepository.js"
import { WorkspaceBuilds } from "./builds/WorkspaceBuilds.js"
import { WorkspaceCreation } from "./creation/WorkspaceCreation.js"
import { WorkspaceSchedules } from "./schedule/WorkspaceSchedules.js"
import { WorkspaceExpiry } from "./lifecycle/WorkspaceExpiry.js"
import { WorkspaceForms } from "./creation/WorkspaceForms.js"
import { WorkspaceLifeCycle } from "./lifecycle/WorkspaceLifeCycle.js"
import type { WorkspaceLifeCycleRepository } from "./lifecycle/WorkspaceLifeCycleRepository.js"
import { WorkspaceOwners } from "./WorkspaceOwners.js"
import { WorkspaceQuotas } from "./quotas/WorkspaceQuotas.js"
import type { WorkspaceRepository } from "./WorkspaceRepository.js"
import { Workspaces } from "./Workspaces.js"
import type { WorkspaceSessionRepository } from "./sessions/WorkspaceSessionRepository.js"
import { WorkspaceNotifications } from "./notifications/WorkspaceNotifications.js"
import { WorkspaceSessions } from "./sessions/WorkspaceSessions.js"
import { WorkspaceSettings } from "./WorkspaceSettings.js"
import { WorkspaceSharing } from "./sharing/WorkspaceSharing.js"
import type { WorkspaceSharingRepository } from "./sharing/WorkspaceSharingRepository.js"
import type { WorkspaceTaskRepository } from "./builds/WorkspaceTaskRepository.js"
import { WorkspaceUsage } from "./schedule/WorkspaceUsage.js"
import { WorkspaceViews } from "./views/WorkspaceViews.js"
import { together } from "../platform/wiring/Standing.js"

export const layer = together(
  AppAccess.layer,
  BuildInputs.layer,
  BuildOrders.layer,
  BuildOutcomes.layer,
  WorkspaceNotifications.layer,
  BuildStates.layer,
  BuildTimings.layer,
  BuildWatches.layer,
  GatewayKey.layer,
  HostKeys.layer,
  OwnerWatches.layer,
  PortShares.layer,
  Prebuilds.layer,
  PrebuiltWorkspaces.layer,
  WorkspaceBuildCreation.layer,
  WorkspaceBuilds.layer,
  WorkspaceCreation.layer,
  WorkspaceSchedules.layer,
  WorkspaceExpiry.layer,
  WorkspaceForms.layer,
  WorkspaceLifeCycle.layer,
  WorkspaceOwners.layer,
  WorkspaceQuotas.layer,
  Workspaces.layer,
  WorkspaceSessions.layer,
  WorkspaceSettings.layer,
  WorkspaceSharing.layer,
  WorkspaceUsage.layer,
  WorkspaceViews.layer
)

/** The ports of earlier areas that this one implements. */
export const adapters = together(buildJobs, fetchableObjects, scheduleChanges, sealedColumns, workspaceActivity)

export const workers = [
  Effect.flatMap(BuildStates, ({ sealing }) => Worker.start(sealing)),
  Effect.flatMap(HostKeys, ({ forgetting }) => Worker.start(forgetting)),
  Effect.flatMap(WorkspaceLifeCycle, ({ worker }) => Worker.start(worker)),
  Effect.flatMap(WorkspaceExpiry, ({ worker }) => Worker.start(worker)),
  Effect.flatMap(Prebuilds, ({ worker }) => Worker.start(worker)),
  Worker.start(buildFollowUps),
  Worker.start(failedBuildsReport)
]

export type Stored =
  | BuildFollowUpRepository
  | FailedBuildRepository
  | HostKeyRepository
  | ParameterAutofillRepository
  | PortShareRepository
  | PrebuildRepository
  | QuotaRepository
  | WorkspaceBuildRepository
  | WorkspaceLifeCycleRepository
  | WorkspaceRepository
  | WorkspaceSessionRepository
  | WorkspaceSharingRepository
  | WorkspaceTaskRepository
