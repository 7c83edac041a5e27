/** The addresses of the sync with identity providers. */
import { createRoute } from "@tanstack/react-router"
import { lazyScreen } from "../../app/lazy.js"
import { rootRoute } from "../../app/root.js"

export interface SyncSearch {
  /** Absent for groups. */
  readonly part?: "roles"
}

export const syncRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/deployment/idp-org-sync",
    component: lazyScreen(() => import("./DeploymentProviderSync.js"), "DeploymentProviderSync")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/organizations/$organization/idp-sync",
    validateSearch: ({ part }: Readonly<Record<string, unknown>>): SyncSearch => (part === "roles" ? { part } : {}),
    component: lazyScreen(() => import("./OrganizationProviderSync.js"), "OrganizationProviderSync")
  })
] as const
