/** The addresses of tasks. Notifications and the audit log lead to them. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router"
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
    component: lazyRouteComponent(() => import("./TaskList.js"), "TaskList")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/tasks/$owner/$task",
    component: lazyRouteComponent(() => import("./TaskDetail.js"), "TaskDetail")
  })
] as const
