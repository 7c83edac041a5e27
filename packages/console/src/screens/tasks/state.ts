/** What a task is doing, in one word. */
import type { Task } from "@atelier/client"
import { taskStateText } from "../../texts/tasks.js"
import type { Tone } from "../../ui/page/tone.js"

export interface TaskState {
  readonly tone: Tone
  readonly label: string
  /** It changes by itself soon. */
  readonly isMoving: boolean
}

type Known = Pick<Task, "status" | "current_state" | "workspace_status">

const reported: Readonly<Record<NonNullable<Task["current_state"]>["state"], Tone>> = {
  working: "blue",
  idle: "green",
  complete: "green",
  failed: "red"
}

/** Of an active task it is what its program reported last. */
export const stateOf = ({ current_state, status, workspace_status }: Known): TaskState => {
  switch (status) {
    case "active": {
      if (current_state === null) return { tone: "green", label: taskStateText.active, isMoving: false }
      const { state } = current_state
      return { tone: reported[state], label: taskStateText[state], isMoving: state === "working" }
    }
    case "pending":
    case "initializing":
      return { tone: "blue", label: taskStateText[status], isMoving: true }
    case "paused":
      return { tone: "grey", label: taskStateText.paused, isMoving: false }
    case "error":
      return { tone: "red", label: taskStateText.error, isMoving: workspace_status === "canceling" }
    case "unknown":
      // A stop or a deletion goes on
      if (workspace_status === "stopping" || workspace_status === "pending")
        return { tone: "blue", label: taskStateText.pausing, isMoving: true }
      if (workspace_status === "deleting") return { tone: "amber", label: taskStateText.deleting, isMoving: true }
      return { tone: "amber", label: taskStateText.unknown, isMoving: false }
  }
}

/** What the program says about its state; what it said before it was stopped is no news. */
export const messageOf = ({ current_state, status }: Known): string =>
  status === "active" || status === "initializing" ? (current_state?.message ?? "") : ""

/** Whether a stop of the workspace can begin. */
export const canPause = ({ status, workspace_status }: Known): boolean =>
  workspace_status === "running" || (status === "error" && (workspace_status === "failed" || workspace_status === "canceled"))

/** Whether a start of the workspace can begin. */
export const canResume = ({ workspace_status }: Known): boolean =>
  workspace_status === "stopped" || workspace_status === "failed" || workspace_status === "canceled"

/** A build of the workspace goes on: another one would be refused. */
export const isBuilding = ({ workspace_status }: Known): boolean =>
  workspace_status !== undefined && ["pending", "starting", "stopping", "canceling", "deleting"].includes(workspace_status)
