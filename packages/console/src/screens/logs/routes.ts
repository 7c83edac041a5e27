/** The addresses of the logs. */
import { createRoute } from "@tanstack/react-router"
import { filterSearch } from "../../app/filter.js"
import { lazyScreen } from "../../app/lazy.js"
import { rootRoute } from "../../app/root.js"

export const logRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/audit",
    validateSearch: filterSearch,
    component: lazyScreen(() => import("./AuditLog.js"), "AuditLog")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/connectionlog",
    validateSearch: filterSearch,
    component: lazyScreen(() => import("./ConnectionLog.js"), "ConnectionLog")
  })
] as const
