/** How this area is wired: its services, its background work, and what it needs stored. */
import { Effect } from "effect"
import * as Worker from "../platform/Worker.js"
import { AppAccess } from "./apps/AppAccess.js"
import type { BuildFollowUpRepository } from "./BuildFollowUpRepository.js"
import { buildFollowUps } from "./BuildFollowUps.js"
import { BuildInputs } from "./BuildInputs.js"
import { buildJobs } from "./BuildJobs.js"
import { BuildOrders } from "./BuildOrders.js"
import { BuildOutcomes } from "./BuildOutcomes.js"
import { BuildStates, sealedColumns } from "./BuildStates.js"
import { BuildTimings } from "./BuildTimings.js"
import { BuildWatches } from "./BuildWatches.js"
import type { FailedBuildRepository } from "./FailedBuildRepository.js"
import { failedBuildsReport } from "./FailedBuilds.js"
import { fetchableObjects } from "./FetchableObjects.js"
import { OwnerWatches } from "./OwnerWatches.js"
import type { ParameterAutofillRepository } from "./ParameterAutofillRepository.js"
import type { PortShareRepository } from "./PortShareRepository.js"
import { PortShares } from "./PortShares.js"
import { Prebuilds } from "./Prebuilds.js"
import { PrebuiltWorkspaces } from "./PrebuiltWorkspaces.js"
import type { PrebuildRepository } from "./PrebuildRepository.js"
import type { QuotaRepository } from "./QuotaRepository.js"
import { scheduleChanges } from "./ScheduleChanges.js"
import { workspaceActivity } from "./WorkspaceActivity.js"
import { WorkspaceBuildCreation } from "./WorkspaceBuildCreation.js"
import type { WorkspaceBuildRepository } from "./WorkspaceBuildRepository.js"
import { WorkspaceBuilds } from "./WorkspaceBuilds.js"
import { WorkspaceCreation } from "./WorkspaceCreation.js"
import { WorkspaceSchedules } from "./WorkspaceSchedules.js"
import { WorkspaceForms } from "./WorkspaceForms.js"
import { WorkspaceLifeCycle } from "./WorkspaceLifeCycle.js"
import type { WorkspaceLifeCycleRepository } from "./WorkspaceLifeCycleRepository.js"
import { WorkspaceOwners } from "./WorkspaceOwners.js"
import { WorkspaceQuotas } from "./WorkspaceQuotas.js"
import type { WorkspaceRepository } from "./WorkspaceRepository.js"
import { Workspaces } from "./Workspaces.js"
import type { WorkspaceSessionRepository } from "./WorkspaceSessionRepository.js"
import { WorkspaceNotifications } from "./WorkspaceNotifications.js"
import { WorkspaceSessions } from "./WorkspaceSessions.js"
import { WorkspaceSettings } from "./WorkspaceSettings.js"
import { WorkspaceSharing } from "./WorkspaceSharing.js"
import type { WorkspaceSharingRepository } from "./WorkspaceSharingRepository.js"
import type { WorkspaceTaskRepository } from "./WorkspaceTaskRepository.js"
import { WorkspaceUsage } from "./WorkspaceUsage.js"
import { WorkspaceViews } from "./WorkspaceViews.js"
import { together } from "../platform/Standing.js"

export const layer = together(
  AppAccess.layer,
  BuildInputs.layer,
  BuildOrders.layer,
  BuildOutcomes.layer,
  WorkspaceNotifications.layer,
  BuildStates.layer,
  BuildTimings.layer,
  BuildWatches.layer,
  OwnerWatches.layer,
  PortShares.layer,
  Prebuilds.layer,
  PrebuiltWorkspaces.layer,
  WorkspaceBuildCreation.layer,
  WorkspaceBuilds.layer,
  WorkspaceCreation.layer,
  WorkspaceSchedules.layer,
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
  Effect.flatMap(WorkspaceLifeCycle, ({ worker }) => Worker.start(worker)),
  Effect.flatMap(Prebuilds, ({ worker }) => Worker.start(worker)),
  Worker.start(buildFollowUps),
  Worker.start(failedBuildsReport)
]

export type Stored =
  | BuildFollowUpRepository
  | FailedBuildRepository
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
