import { Effect, Option } from "effect"
import * as Access from "../access/Access.js"
import * as AccessObjects from "../access/AccessObjects.js"
import type { AccessObject } from "../access/Resource.js"
import { parse } from "../platform/texts/Uuid.js"
import { WorkspaceOwners } from "../workspaces/WorkspaceOwners.js"
import { missingTask } from "./Task.js"
import { type TaskDetails, TaskRepository } from "./TaskRepository.js"
import * as Traced from "../platform/wiring/Traced.js"

/** The object of permission checks on a task. The shares of a dormant workspace grant nothing. */
export const taskObject = (task: TaskDetails): AccessObject =>
  AccessObjects.task(task, task.workspace.dormant_at === null ? task.workspace : {})

/** Finds tasks with the permission check of the actor. */
export const visibleTasks = Effect.gen(function* () {
  const repository = yield* TaskRepository
  const owners = yield* WorkspaceOwners

  const find = (user: string, reference: string) =>
    Effect.gen(function* () {
      const id = parse(reference)
      const byId = id === undefined ? Option.none() : yield* repository.byId(id)
      if (Option.isSome(byId)) return byId.value
      const owner = yield* owners.known(user)
      return Option.getOrNull(yield* repository.byName(owner.id, reference))
    })

  return {
    /**
     * The task that a path names: by its id, whatever the user, or by its name among the user's. Fails with `NotFound` if it is deleted, or
     * the actor may not read it, its workspace or its template.
     */
    readable: Traced.fn("VisibleTask.readable")(function* (user: string, reference: string) {
      const task = yield* Access.visible(yield* find(user, reference), taskObject, missingTask)
      yield* Access.readable(AccessObjects.workspace(task.workspace), missingTask)
      yield* Access.readable(AccessObjects.template(task.template), missingTask)
      return task
    })
  }
})
