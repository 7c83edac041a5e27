/** The addresses of workspaces. */
import { createRoute, redirect } from "@tanstack/react-router"
import { lazyScreen } from "../../app/lazy.js"
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
  component: lazyScreen(() => import("./WorkspaceList.js"), "WorkspaceList")
})

const workspace = createRoute({
  getParentRoute: () => rootRoute,
  path: "/@{$owner}/$workspace",
  component: lazyScreen(() => import("./detail/WorkspaceFrame.js"), "WorkspaceFrame")
})

const overview = createRoute({
  getParentRoute: () => workspace,
  path: "/",
  component: lazyScreen(() => import("./detail/Overview.js"), "Overview")
})

const buildList = createRoute({
  getParentRoute: () => workspace,
  path: "/builds",
  component: lazyScreen(() => import("./detail/BuildList.js"), "BuildList")
})

const build = createRoute({
  getParentRoute: () => workspace,
  path: "/builds/$build",
  component: lazyScreen(() => import("./detail/BuildDetail.js"), "BuildDetail")
})

const settings = createRoute({
  getParentRoute: () => workspace,
  path: "/settings",
  component: lazyScreen(() => import("./detail/Settings.js"), "Settings")
})

const parameters = createRoute({
  getParentRoute: () => workspace,
  path: "/settings/parameters",
  validateSearch: ({ update }: Readonly<Record<string, unknown>>): ParametersSearch => (update === true ? { update } : {}),
  component: lazyScreen(() => import("./detail/Parameters.js"), "Parameters")
})

const schedule = createRoute({
  getParentRoute: () => workspace,
  path: "/settings/schedule",
  component: lazyScreen(() => import("./detail/Schedule.js"), "Schedule")
})

const sharing = createRoute({
  getParentRoute: () => workspace,
  path: "/settings/sharing",
  component: lazyScreen(() => import("./detail/Sharing.js"), "Sharing")
})

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

export interface InsideSearch {
  /** The agent's name; absent for the first one. */
  readonly agent?: string
}

export interface FilesSearch extends InsideSearch {
  /** A folder or a file; absent for where the agent begins. */
  readonly path?: string
}

const files = createRoute({
  getParentRoute: () => workspace,
  path: "/files",
  validateSearch: (search: Readonly<Record<string, unknown>>): FilesSearch => {
    const agent = textOf(search["agent"])
    const path = textOf(search["path"])
    return { ...(agent === undefined ? {} : { agent }), ...(path === undefined ? {} : { path }) }
  },
  component: lazyScreen(() => import("../files/Files.js"), "Files")
})

export interface ProcessesSearch extends InsideSearch {
  /** The id of the process whose output is shown. */
  readonly process?: string
}

const processes = createRoute({
  getParentRoute: () => workspace,
  path: "/processes",
  validateSearch: (search: Readonly<Record<string, unknown>>): ProcessesSearch => {
    const agent = textOf(search["agent"])
    const process = textOf(search["process"])
    return { ...(agent === undefined ? {} : { agent }), ...(process === undefined ? {} : { process }) }
  },
  component: lazyScreen(() => import("../processes/Processes.js"), "Processes")
})

export const workspaceRoutes = [
  home,
  list,
  workspace.addChildren([overview, files, processes, buildList, build, settings, parameters, schedule, sharing])
] as const
