/** Tasks as they are shown. */
import { Effect } from "effect"
import { inactivityTimeout } from "../agents/AgentStatus.js"
import { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { missingTask, taskStatus } from "./Task.js"
import type { TaskDetails } from "./TaskRepository.js"
import { partsOf, taskView } from "./TaskView.js"

export const viewsOf = (tasks: ReadonlyArray<TaskDetails>) =>
  Effect.gen(function* () {
    const { agentConnectionUpdateInterval } = yield* DeploymentOptions
    const context = { now: yield* Timestamp.now, inactive: inactivityTimeout(agentConnectionUpdateInterval) }
    return tasks.map((task) => taskView(task, context))
  })

export const viewOf = (task: TaskDetails) =>
  Effect.flatMap(viewsOf([task]), ([view]) => (view === undefined ? missingTask : Effect.succeed(view)))

export const status = (task: TaskDetails) => taskStatus(partsOf(task))
