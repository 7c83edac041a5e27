/** Port: talks HTTP with the app that works on a task. workspaces.md §9.5. */
import { Context, Data, type Effect } from "effect"
import type { AgentTarget } from "../network/AgentDialer.js"

/** The app cannot be reached, or did not answer as it must; `message` says why, to the caller. */
export class TaskAppFailure extends Data.TaggedError("TaskAppFailure")<{ readonly message: string }> {}

/** A request to an app. */
export interface TaskAppRequest {
  readonly target: AgentTarget
  readonly method: "GET" | "POST"
  /** The address that the template declares; its path begins the request's. */
  readonly base: URL
  /** Behind the base's path, such as `/status`. */
  readonly path: string
  /** Sent as JSON. */
  readonly body?: unknown
}

export class TaskApps extends Context.Tag("@atelier/core/TaskApps")<
  TaskApps,
  {
    /**
     * Sends a request through the workspace's agent and returns the JSON of the answer, undefined for an empty one. Fails unless the answer has
     * a status from 200 to 299, at most 2 MiB, and arrives whole within 30 seconds. Redirects are not followed. No connection stays open.
     */
    readonly request: (request: TaskAppRequest) => Effect.Effect<unknown, TaskAppFailure>
  }
>() {}
