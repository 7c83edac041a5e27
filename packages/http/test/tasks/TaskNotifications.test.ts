/** What the owner of a task is told of its program. workspaces.md §9.6. */
import { type Dispatcher, notificationEvents, type OutgoingNotification } from "@atelier/core/notifications"
import { Timestamp, Uuid } from "@atelier/core/platform"
import { WorkspaceLifeCycle } from "@atelier/core/workspaces"
import { SqlClient } from "@effect/sql"
import { Effect, Layer } from "effect"
import { beforeEach, expect, it } from "vitest"
import { testEngines } from "../../../../test/outside/engine.js"
import { describeServer, type Person } from "../../../../test/http/server.js"
import { getWorkspace } from "../../../../test/http/workspaceCalls.js"
import { agentIs, aTask, aTaskTemplate, loopbackDialer, workspaceSettled } from "../../../../test/http/taskCalls.js"

const delivered: Array<OutgoingNotification> = []

const recording: Dispatcher = { method: "recording", dispatch: (message) => Effect.sync(() => void delivered.push(message)) }

const { taskCompleted, taskFailed, taskIdle, taskPaused, taskResumed, taskWorking } = notificationEvents
const names: ReadonlyMap<string, string> = new Map([
  [taskWorking.id, "working"],
  [taskIdle.id, "idle"],
  [taskCompleted.id, "complete"],
  [taskFailed.id, "failure"],
  [taskPaused.id, "paused"],
  [taskResumed.id, "resumed"]
])

describeServer(
  "the owner of a task",
  (server) => {
    beforeEach(() => void delivered.splice(0))

    /** A task whose agent is ready and whose owner wants to know all states; `say` is its program. */
    const aWatchedTask = async () => {
      const token = Uuid.Uuid.make(crypto.randomUUID())
      const ann = await server().aMember()
      const template_disabled_map = Object.fromEntries([...names.keys()].map((id) => [id, false]))
      const body = { template_disabled_map }
      expect((await server().call("PUT", "/users/me/notifications/preferences", { token: ann.token, body })).status).toBe(200)
      const task = await aTask(server(), await aTaskTemplate(server(), { token }), ann)
      await agentIs(server(), task, "ready")
      const say = async (state: string) => {
        // Equal messages within a minute are one
        server().advance("1 minute")
        const said = await server().call("PATCH", "/workspaceagents/me/app-status", {
          token,
          body: { app_slug: "chat", state, message: "m" }
        })
        expect(said.status).toBe(200)
      }
      return { ann, task, say }
    }

    /** What a user is told, once it is as much. */
    const told = async ({ user }: Person, ...expected: ReadonlyArray<string>) => {
      const found = () => delivered.filter(({ user_id }) => user_id === user.id).map(({ template_id }) => names.get(template_id))
      await expect.poll(() => found().toSorted()).toStrictEqual(expected.toSorted())
    }

    it("is not told that the program works at first, but of each change after that", async () => {
      const { ann, say } = await aWatchedTask()
      await say("working")
      await say("idle")
      await told(ann, "idle")
      await say("working")
      await say("idle")
      await say("idle")
      await say("complete")
      await say("failure")
      await told(ann, "idle", "working", "idle", "complete", "failure")
    })

    it("is told that the program is idle at first", async () => {
      const { ann, say } = await aWatchedTask()
      await say("idle")
      await told(ann, "idle")
    })

    it("is told nothing while the agent starts", async () => {
      const { ann, say, task } = await aWatchedTask()
      await agentIs(server(), task, "starting")
      await say("idle")
      await agentIs(server(), task, "ready")
      await say("complete")
      await told(ann, "complete")
    })

    it("is told of a pause and of its end", async () => {
      const { ann, task } = await aWatchedTask()
      expect((await server().call("POST", `/tasks/me/${task.id}/pause`, { token: ann.token })).status).toBe(202)
      await workspaceSettled(server(), task, ann)
      expect((await server().call("POST", `/tasks/me/${task.id}/resume`, { token: ann.token })).status).toBe(202)
      await told(ann, "paused", "resumed")
      expect(delivered.find(({ template_id }) => template_id === taskPaused.id)?.payload.labels).toMatchObject({ pause_reason: "manual" })
    })

    it("is told of a pause at the deadline, once", async () => {
      const { ann, task } = await aWatchedTask()
      await server().run(
        Effect.gen(function* () {
          const sql = yield* Effect.flatten(Effect.serviceOption(SqlClient.SqlClient))
          yield* sql`UPDATE workspace_builds SET deadline = '2026-01-01T00:00:00.000Z' WHERE workspace_id = ${task.workspace_id}`
          // The clock was moved: daemons have not been seen since
          yield* sql`UPDATE provisioner_daemons SET last_seen_at = ${yield* Timestamp.now}`
          const { worker } = yield* WorkspaceLifeCycle
          yield* worker.run
          yield* worker.run
        })
      )
      await workspaceSettled(server(), task, ann)
      expect((await getWorkspace(server(), String(task.workspace_id), ann)).latest_build).toMatchObject({
        build_number: 2,
        reason: "task_auto_pause",
        status: "stopped"
      })
      await told(ann, "paused")
      expect(delivered.find(({ template_id }) => template_id === taskPaused.id)?.payload.labels).toMatchObject({
        pause_reason: "idle timeout"
      })
    })
  },
  {
    dispatchers: [recording],
    options: { notificationsMethod: "recording" },
    provisioner: Layer.merge(testEngines, loopbackDialer)
  }
)
