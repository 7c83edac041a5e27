/** The addresses of the sync with identity providers. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router"
import { rootRoute } from "../../app/root.js"

export interface SyncSearch {
  /** Absent for groups. */
  readonly part?: "roles"
}

export const syncRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/deployment/idp-org-sync",
    component: lazyRouteComponent(() => import("./DeploymentProviderSync.js"), "DeploymentProviderSync")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/organizations/$organization/idp-sync",
    validateSearch: ({ part }: Readonly<Record<string, unknown>>): SyncSearch => (part === "roles" ? { part } : {}),
    component: lazyRouteComponent(() => import("./OrganizationProviderSync.js"), "OrganizationProviderSync")
  })
] as const
