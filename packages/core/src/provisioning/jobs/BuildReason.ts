import { Schema } from "effect"

/** Why a build was made. workspaces.md §1. */
export const BuildReason = Schema.Literal(
  "initiator",
  "autostart",
  "autostop",
  "dormancy",
  "autodelete",
  "failedstop",
  "dashboard",
  "cli",
  "ssh_connection",
  "vscode_connection",
  "jetbrains_connection",
  "task_auto_pause",
  "task_manual_pause",
  "task_resume"
)
export type BuildReason = typeof BuildReason.Type
