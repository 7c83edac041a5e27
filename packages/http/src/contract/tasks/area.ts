/** This area's groups of endpoints. */
import * as HttpApi from "@effect/platform/HttpApi"
import { tasks, taskSnapshots } from "./tasks.js"

export const area = HttpApi.make("tasks").add(tasks).add(taskSnapshots)
