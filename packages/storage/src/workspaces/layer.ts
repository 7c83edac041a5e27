/** How this area is stored: its repositories and its migrations. */
import type { Stored } from "@atelier/core/workspaces"
import { Layer } from "effect"
import { layer as buildFollowUps } from "./builds/BuildFollowUpRepository.js"
import { layer as failedBuilds } from "./notifications/FailedBuildRepository.js"
import { layer as hostKeys } from "./hostKeys/HostKeyRepository.js"
import { layer as parameterAutofill } from "./creation/ParameterAutofillRepository.js"
import { layer as portShares } from "./sharing/PortShareRepository.js"
import { layer as prebuilds } from "./prebuilds/PrebuildRepository.js"
import { layer as quotas } from "./quotas/QuotaRepository.js"
import { layer as workspaceBuilds } from "./builds/WorkspaceBuildRepository.js"
import { layer as lifeCycle } from "./lifecycle/WorkspaceLifeCycleRepository.js"
import { layer as workspaces } from "./WorkspaceRepository.js"
import { layer as workspaceSessions } from "./sessions/WorkspaceSessionRepository.js"
import { layer as workspaceSharing } from "./sharing/WorkspaceSharingRepository.js"
import { layer as workspaceTasks } from "./builds/WorkspaceTaskRepository.js"
import workspacesMigration from "./migrations/0050_workspaces.js"
import buildFollowUpsMigration from "./migrations/0080_build_follow_ups.js"
import sealedStates from "./migrations/0136_sealed_states.js"
import sessionKeys from "./migrations/0151_session_keys.js"
import portSharesMigration from "./migrations/0156_port_shares.js"
import notifiedDeadlines from "./migrations/0191_notified_deadlines.js"
import failedBuildReports from "./migrations/0400_failed_build_reports.js"
import prebuildsByPreset from "./migrations/0496_prebuilds_by_preset.js"
import workspaceExpiry from "./migrations/0520_workspace_expiry.js"
import hostKeysMigration from "./migrations/0540_host_keys.js"
import largeDeployments from "./migrations/0600_large_deployments.js"
import workspaceNames from "./migrations/0620_workspace_names.js"
import workspaceNameParts from "./migrations/0630_workspace_name_parts.js"
import startedWorkspaces from "./migrations/0641_started_workspaces.js"
import singleUpdates from "./migrations/0650_single_updates.js"
import dueWorkspaces from "./migrations/0165_due_workspaces.js"
import { together } from "@atelier/core/platform"
import type { Statements } from "../platform/Statements.js"

export const layer = together(
  buildFollowUps,
  failedBuilds,
  hostKeys,
  lifeCycle,
  parameterAutofill,
  portShares,
  prebuilds,
  quotas,
  workspaceBuilds,
  workspaces,
  workspaceSessions,
  workspaceSharing,
  workspaceTasks
) satisfies Layer.Layer<Stored, never, Statements>

export const migrations = {
  "0050_workspaces": workspacesMigration,
  "0080_build_follow_ups": buildFollowUpsMigration,
  "0136_sealed_states": sealedStates,
  "0151_session_keys": sessionKeys,
  "0156_port_shares": portSharesMigration,
  "0165_due_workspaces": dueWorkspaces,
  "0191_notified_deadlines": notifiedDeadlines,
  "0400_failed_build_reports": failedBuildReports,
  "0496_prebuilds_by_preset": prebuildsByPreset,
  "0520_workspace_expiry": workspaceExpiry,
  "0540_host_keys": hostKeysMigration,
  "0600_large_deployments": largeDeployments,
  "0620_workspace_names": workspaceNames,
  "0630_workspace_name_parts": workspaceNameParts,
  "0641_started_workspaces": startedWorkspaces,
  "0650_single_updates": singleUpdates
}
