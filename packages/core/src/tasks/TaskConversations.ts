import { Context, Effect, Either, Option, Schema } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import { AgentSessions } from "../agents/credentials/AgentSessions.js"
import { Conflict, Invalid, UpstreamFailure, type NotFound, type Unauthenticated } from "../platform/Errors.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { firstPort } from "../network/AgentLinks.js"
import { missingTask, type TaskId, taskStatus } from "./Task.js"
import { WorkspaceOwners } from "../workspaces/WorkspaceOwners.js"
import { taskObject, visibleTasks } from "./VisibleTask.js"
import { TaskApps } from "./TaskApps.js"
import { type TaskDetails, type TaskMessage, TaskRepository, type TaskSnapshot } from "./TaskRepository.js"
import { partsOf } from "./TaskView.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import * as Traced from "../platform/wiring/Traced.js"
import type { CurrentActor } from "../access/actors/Actor.js"

export const TaskLogType = Schema.Literal("input", "output")

export const TaskLogEntry = Schema.Struct({
  id: Schema.Int,
  content: Schema.String,
  type: TaskLogType,
  time: Timestamp.Timestamp
})

/** A conversation: as the app tells it, or as it was stored last. */
export const TaskLogs = Schema.Struct({
  logs: Schema.Array(TaskLogEntry),
  /** Present when the conversation is a stored one. */
  snapshot: Schema.optional(Schema.Boolean),
  /** When it was stored; absent when none was. */
  snapshot_at: Schema.optional(Timestamp.Timestamp)
})
export interface TaskLogs extends Schema.Schema.Type<typeof TaskLogs> {}

/** Messages of a conversation. Apps and agents tell them in this form. */
export const TaskMessages = Schema.Array(
  Schema.Struct({
    id: Schema.Int,
    role: Schema.Literal("user", "agent"),
    content: Schema.String,
    time: Timestamp.TimestampFromInput
  })
)

/** An app's answer to `/status`; every status other than `stable` means that it works. */
const AppStatusAnswer = Schema.Struct({ status: Schema.String })
const AppMessagesAnswer = Schema.Struct({ messages: TaskMessages })

/** Hosts of an app's address that mean the loopback interface of its agent. */
const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"])

const entryOf = ({ content, id, role, time }: TaskMessage): typeof TaskLogEntry.Type => ({
  id,
  content,
  type: role === "user" ? "input" : "output",
  time
})

const portOf = ({ port }: URL): number => Number(port || 80)

/**
 * The address of a task's app, which the service may ask. Fails with `Invalid` for one that is not HTTP on the agent's loopback interface, and for
 * the ports where the agent itself listens: the right to connect to apps is not the right to those.
 */
const addressOf = ({ app }: Pick<TaskDetails, "app">): Either.Either<URL, Invalid> => {
  if (app === null) return Either.left(new Invalid({ message: "The task has no app." }))
  const url = URL.canParse(app.url) ? new URL(app.url) : undefined
  if (url === undefined) return Either.left(new Invalid({ message: "The task's app has no address." }))
  const refuse = (detail: string) => Either.left(new Invalid({ message: "The task's app cannot be asked.", detail }))
  if (url.protocol !== "http:" || !loopback.has(url.hostname)) return refuse("Its address is not http on the loopback interface.")
  return portOf(url) < firstPort ? refuse(`Its port is below ${firstPort}.`) : Either.right(url)
}

/** The methods of {@link TaskConversations}. */
export interface TaskConversationsService {
  /**
   * Sends a message to the app of an active task. Fails with `Conflict` while the task starts, is paused or works, with `Invalid` if its
   * app cannot be asked, and with `UpstreamFailure` if the app does not answer as it must. workspaces.md §9.5.
   */
  readonly send: (
    user: string,
    reference: string,
    input: string
  ) => Effect.Effect<undefined, Invalid | NotFound | Conflict | UpstreamFailure, CurrentActor>

  /**
   * The conversation: of an active task from its app, of one that starts or is paused as it was stored last. Fails with `Conflict` if the task
   * has failed or its state is unknown, and as `send` does. workspaces.md §9.5.
   */
  readonly logs: (user: string, reference: string) => Effect.Effect<TaskLogs, Invalid | NotFound | Conflict | UpstreamFailure, CurrentActor>

  /** Replaces the stored conversation of the task that the acting agent's workspace works on. Fails with `NotFound` for any other. workspaces.md §9.5. */
  readonly store: (id: TaskId, messages: ReadonlyArray<TaskMessage>) => Effect.Effect<undefined, Unauthenticated | NotFound, CurrentActor>
}

const make = Effect.gen(function* () {
  const repository = yield* TaskRepository
  const { readable } = yield* visibleTasks
  const agents = yield* AgentSessions
  const apps = yield* TaskApps

  /** Asks the app of an active task, as a user who may connect to the workspace's apps. */
  const ask =
    (task: TaskDetails, base: URL) =>
    <A, I>(answer: Schema.Schema<A, I>, method: "GET" | "POST", path: string, body?: unknown) =>
      Effect.gen(function* () {
        const { agent, workspace_id } = task
        if (agent === null) return yield* new UpstreamFailure({ message: "The task has no agent." })
        const port = portOf(base)
        const value = yield* apps.request({ target: { agent_id: agent.id, workspace_id, port }, base, method, path, body })
        return yield* Effect.mapError(
          Schema.decodeUnknown(answer)(value),
          () => new UpstreamFailure({ message: "The task's app gave an unexpected answer.", detail: `${method} ${path}` })
        )
      }).pipe(
        Effect.catchTag(
          "TaskAppFailure",
          ({ message }) => new UpstreamFailure({ message: "The task's app did not answer.", detail: message })
        )
      )

  /** The app of an active task. Fails with `NotFound` if the actor may not connect to it. */
  const connected = (task: TaskDetails) =>
    Effect.gen(function* () {
      yield* Access.authorizeOrHide("application_connect", AccessObjects.workspace(task.workspace), missingTask)
      return ask(task, yield* addressOf(task))
    })

  const stored = (snapshot: Option.Option<TaskSnapshot>): TaskLogs =>
    Option.match(snapshot, {
      onNone: () => ({ logs: [], snapshot: true }),
      onSome: ({ messages, stored_at }) => ({ logs: messages.map(entryOf), snapshot: true, snapshot_at: stored_at })
    })

  return {
    send: Traced.fn("TaskConversations.send")(function* (user: string, reference: string, input: string) {
      const task = yield* readable(user, reference)
      if (input === "") return yield* Invalid.field("input", "must not be empty")
      switch (taskStatus(partsOf(task))) {
        case "pending":
        case "initializing":
        case "paused":
          return yield* new Conflict({ message: "The task accepts messages only while it is active." })
        case "error":
        case "unknown":
          return yield* new Invalid({ message: "The task accepts no messages: it has failed, or its state is unknown." })
        case "active": {
          const request = yield* connected(task)
          const { status } = yield* request(AppStatusAnswer, "GET", "/status")
          if (status !== "stable") return yield* new Conflict({ message: "The task's app is busy.", detail: `Its status is ${status}.` })
          yield* request(Schema.Unknown, "POST", "/message", { content: input, type: "user" })
        }
      }
    }),

    logs: Traced.fn("TaskConversations.logs")(function* (user: string, reference: string) {
      const task = yield* readable(user, reference)
      switch (taskStatus(partsOf(task))) {
        case "active": {
          const request = yield* connected(task)
          const { messages } = yield* request(AppMessagesAnswer, "GET", "/messages")
          return { logs: messages.map(entryOf) } satisfies TaskLogs
        }
        case "pending":
        case "initializing":
        case "paused":
          return stored(yield* repository.snapshot(task.id))
        case "error":
        case "unknown":
          return yield* new Conflict({ message: "The task has no conversation to show: it has failed, or its state is unknown." })
      }
    }),

    store: Traced.fn("TaskConversations.store")(function* (id: TaskId, messages: ReadonlyArray<TaskMessage>) {
      const { workspace_id } = yield* agents.current
      const task = Option.getOrUndefined(yield* repository.byId(id))
      if (task === undefined || task.workspace_id !== workspace_id) return yield* missingTask
      yield* Access.authorizeOrHide("update", taskObject(task), missingTask)
      if (!(yield* repository.putSnapshot(id, workspace_id, { messages, stored_at: yield* Timestamp.now }))) return yield* missingTask
    })
  }
})

/** Messages between users and the apps of their tasks. */
export class TaskConversations extends Context.Tag("@atelier/core/TaskConversations")<TaskConversations, TaskConversationsService>() {
  static readonly layer = standingOn(service(TaskConversations, make), WorkspaceOwners.layer, AgentSessions.layer)
}
