/** The addresses of the logs. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router"
import { filterSearch } from "../../app/filter.js"
import { rootRoute } from "../../app/root.js"

export const logRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/audit",
    validateSearch: filterSearch,
    component: lazyRouteComponent(() => import("./AuditLog.js"), "AuditLog")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/connectionlog",
    validateSearch: filterSearch,
    component: lazyRouteComponent(() => import("./ConnectionLog.js"), "ConnectionLog")
  })
] as const
