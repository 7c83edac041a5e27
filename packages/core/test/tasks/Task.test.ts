import { describe, expect, it } from "vitest"
import { type TaskParts, taskStatus, waitingFor } from "../../src/tasks/index.js"

const start = (job: NonNullable<TaskParts["build"]>["job"]): TaskParts["build"] => ({ job, transition: "start" })

/** Each row of workspaces.md §9.4: build, lifecycle, health, status. */
const rows: ReadonlyArray<readonly [TaskParts["build"], TaskParts["lifecycle"], TaskParts["health"], string]> = [
  [null, null, null, "pending"],
  [start("failed"), "ready", "healthy", "error"],
  [start("canceling"), "ready", "healthy", "error"],
  [start("canceled"), null, null, "error"],
  [{ job: "failed", transition: "stop" }, null, null, "error"],
  [{ job: "canceling", transition: "stop" }, null, null, "error"],
  [{ job: "canceled", transition: "delete" }, null, null, "error"],
  [start("unknown"), null, null, "error"],
  [{ job: "succeeded", transition: "stop" }, null, null, "paused"],
  [{ job: "succeeded", transition: "delete" }, null, null, "paused"],
  [start("pending"), null, null, "pending"],
  [{ job: "pending", transition: "stop" }, "ready", "healthy", "unknown"],
  [{ job: "running", transition: "stop" }, "ready", "healthy", "unknown"],
  [{ job: "pending", transition: "delete" }, "ready", "healthy", "unknown"],
  [{ job: "running", transition: "delete" }, "ready", "healthy", "unknown"],
  [start("running"), null, null, "initializing"],
  [start("running"), "ready", "healthy", "active"],
  [start("succeeded"), null, null, "initializing"],
  [start("succeeded"), "created", "disabled", "initializing"],
  [start("succeeded"), "starting", "disabled", "initializing"],
  [start("succeeded"), "shutting_down", "healthy", "unknown"],
  [start("succeeded"), "shutdown_timeout", "healthy", "unknown"],
  [start("succeeded"), "shutdown_error", "healthy", "unknown"],
  [start("succeeded"), "off", "healthy", "unknown"],
  [start("succeeded"), "ready", "initializing", "initializing"],
  [start("succeeded"), "ready", "unhealthy", "error"],
  [start("succeeded"), "ready", "healthy", "active"],
  [start("succeeded"), "ready", "disabled", "active"],
  [start("succeeded"), "ready", null, "unknown"],
  [start("succeeded"), "start_timeout", "disabled", "active"],
  [start("succeeded"), "start_timeout", "unhealthy", "error"],
  [start("succeeded"), "start_error", "disabled", "active"],
  [start("succeeded"), "start_error", "initializing", "initializing"]
]

describe("the status of a task", () => {
  it.each(rows)("with build %o, agent %s and app %s is %s", (build, lifecycle, health, status) => {
    expect(taskStatus({ build, lifecycle, health })).toBe(status)
  })
})

describe("a task that has reported nothing", () => {
  it.each([
    [null, null, null, "Workspace is pending"],
    [start("pending"), null, null, "Workspace is pending"],
    [start("running"), null, null, "Workspace is starting"],
    [start("succeeded"), "created", "disabled", "Agent is connecting"],
    [start("succeeded"), "starting", "disabled", "Agent is starting"],
    [start("succeeded"), "ready", "initializing", "App is initializing"],
    [start("succeeded"), "ready", null, "Task is initializing"]
  ] as const)("with build %o, agent %s and app %s says what it waits for", (build, lifecycle, health, message) => {
    expect(waitingFor({ build, lifecycle, health })).toBe(message)
  })
})
