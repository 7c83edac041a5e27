/** The addresses of tasks. Notifications and the audit log lead to them. */
import { createRoute } from "@tanstack/react-router"
import { lazyScreen } from "../../app/lazy.js"
import { rootRoute } from "../../app/root.js"

export interface TaskListSearch {
  /** Absent for the user's own tasks, empty for all. */
  readonly filter?: string
}

export const taskRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/tasks",
    validateSearch: ({ filter }: Readonly<Record<string, unknown>>): TaskListSearch => (typeof filter === "string" ? { filter } : {}),
    component: lazyScreen(() => import("./TaskList.js"), "TaskList")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/tasks/$owner/$task",
    component: lazyScreen(() => import("./TaskDetail.js"), "TaskDetail")
  })
] as const
