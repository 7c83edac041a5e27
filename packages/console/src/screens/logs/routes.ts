/** The addresses of the logs. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router"
import { rootRoute } from "../../app/root.js"

export interface LogSearch {
  readonly filter?: string
}

const filterOf = ({ filter }: Readonly<Record<string, unknown>>): LogSearch =>
  typeof filter === "string" && filter !== "" ? { filter } : {}

export const logRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/audit",
    validateSearch: filterOf,
    component: lazyRouteComponent(() => import("./AuditLog.js"), "AuditLog")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/connectionlog",
    validateSearch: filterOf,
    component: lazyRouteComponent(() => import("./ConnectionLog.js"), "ConnectionLog")
  })
] as const
