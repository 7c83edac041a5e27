/** What a workspace's build and agents say together. */
import type { Workspace, WorkspaceAgent, WorkspaceBuild } from "@atelier/client"
import { statusText } from "../../texts/workspaces.js"
import type { Tone } from "../../ui/page/tone.js"

export interface WorkspaceState {
  readonly tone: Tone
  readonly label: string
  /** Something happens now. */
  readonly isMoving: boolean
}

const moving = new Set<WorkspaceBuild["status"]>(["pending", "starting", "stopping", "canceling", "deleting"])

const tones: Readonly<Record<WorkspaceBuild["status"], Tone>> = {
  pending: "blue",
  starting: "blue",
  running: "green",
  stopping: "blue",
  stopped: "grey",
  failed: "red",
  canceling: "amber",
  canceled: "grey",
  deleting: "amber",
  deleted: "grey"
}

/** The agents of a build, with those of resources that are not shown. */
export const agentsOf = (build: WorkspaceBuild): ReadonlyArray<WorkspaceAgent> => build.resources.flatMap(({ agents }) => agents ?? [])

export const isBuilding = ({ status }: WorkspaceBuild): boolean => moving.has(status)

export const stateOf = ({ dormant_at, health, latest_build }: Workspace): WorkspaceState => {
  const { status } = latest_build
  if (moving.has(status)) return { tone: tones[status], label: statusText[status], isMoving: true }
  if (status === "running") {
    const agents = agentsOf(latest_build)
    if (agents.some((agent) => agent.status === "connecting")) return { tone: "blue", label: statusText.connecting, isMoving: true }
    if (!health.healthy) return { tone: "amber", label: statusText.unhealthy, isMoving: false }
  }
  if (dormant_at !== null && status !== "running") return { tone: "grey", label: statusText.dormant, isMoving: false }
  return { tone: tones[status], label: statusText[status], isMoving: false }
}

/** Whether the latest build can be followed by another start. */
export const canStart = ({ dormant_at, latest_build: { status } }: Workspace): boolean =>
  dormant_at === null && ["stopped", "failed", "canceled"].includes(status)

export const canUpdate = ({ latest_build, outdated }: Workspace): boolean => outdated && !isBuilding(latest_build)

export const canDelete = ({ latest_build }: Workspace): boolean => !isBuilding(latest_build)

export const canStop = ({ latest_build: { status, transition } }: Workspace): boolean =>
  status === "running" || (["failed", "canceled"].includes(status) && transition !== "delete")
