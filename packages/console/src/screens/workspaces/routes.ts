/** The addresses of workspaces. */
import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router"
import { rootRoute } from "../../app/root.js"

export interface WorkspaceListSearch {
  /** Absent for the user's own workspaces, empty for all. */
  readonly filter?: string
}

export interface ParametersSearch {
  /** The form is that of the template's newest version, which the build takes. */
  readonly update?: boolean
}

const home = createRoute({
  getParentRoute: () => rootRoute,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/workspaces", replace: true })
  }
})

const list = createRoute({
  getParentRoute: () => rootRoute,
  path: "/workspaces",
  validateSearch: ({ filter }: Readonly<Record<string, unknown>>): WorkspaceListSearch => (typeof filter === "string" ? { filter } : {}),
  component: lazyRouteComponent(() => import("./WorkspaceList.js"), "WorkspaceList")
})

const workspace = createRoute({
  getParentRoute: () => rootRoute,
  path: "/@{$owner}/$workspace",
  component: lazyRouteComponent(() => import("./detail/WorkspaceFrame.js"), "WorkspaceFrame")
})

const overview = createRoute({
  getParentRoute: () => workspace,
  path: "/",
  component: lazyRouteComponent(() => import("./detail/Overview.js"), "Overview")
})

const buildList = createRoute({
  getParentRoute: () => workspace,
  path: "/builds",
  component: lazyRouteComponent(() => import("./detail/BuildList.js"), "BuildList")
})

const build = createRoute({
  getParentRoute: () => workspace,
  path: "/builds/$build",
  component: lazyRouteComponent(() => import("./detail/BuildDetail.js"), "BuildDetail")
})

const settings = createRoute({
  getParentRoute: () => workspace,
  path: "/settings",
  component: lazyRouteComponent(() => import("./detail/Settings.js"), "Settings")
})

const parameters = createRoute({
  getParentRoute: () => workspace,
  path: "/settings/parameters",
  validateSearch: ({ update }: Readonly<Record<string, unknown>>): ParametersSearch => (update === true ? { update } : {}),
  component: lazyRouteComponent(() => import("./detail/Parameters.js"), "Parameters")
})

const schedule = createRoute({
  getParentRoute: () => workspace,
  path: "/settings/schedule",
  component: lazyRouteComponent(() => import("./detail/Schedule.js"), "Schedule")
})

const sharing = createRoute({
  getParentRoute: () => workspace,
  path: "/settings/sharing",
  component: lazyRouteComponent(() => import("./detail/Sharing.js"), "Sharing")
})

export const workspaceRoutes = [
  home,
  list,
  workspace.addChildren([overview, buildList, build, settings, parameters, schedule, sharing])
] as const
