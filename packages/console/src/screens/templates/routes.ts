/** The addresses of templates. */
import { createRoute } from "@tanstack/react-router"
import { filterSearch } from "../../app/filter.js"
import { lazyScreen } from "../../app/lazy.js"
import { rootRoute } from "../../app/root.js"
import { usageSearch } from "../insights/usageSearch.js"

export interface EditorSearch {
  /** The file that is open. */
  readonly file?: string
}

export interface VersionSearch {
  /** The name of the version that it is compared with; absent for the one before. */
  readonly with?: string
}

export interface VersionListSearch {
  readonly archived?: boolean
}

const list = createRoute({
  getParentRoute: () => rootRoute,
  path: "/templates",
  validateSearch: filterSearch,
  component: lazyScreen(() => import("./TemplateList.js"), "TemplateList")
})

const starters = createRoute({
  getParentRoute: () => rootRoute,
  path: "/starter-templates",
  component: lazyScreen(() => import("./Starters.js"), "Starters")
})

const template = createRoute({
  getParentRoute: () => rootRoute,
  path: "/templates/$organization/$template",
  component: lazyScreen(() => import("./TemplateFrame.js"), "TemplateFrame")
})

const overview = createRoute({
  getParentRoute: () => template,
  path: "/",
  component: lazyScreen(() => import("./Overview.js"), "Overview")
})

const versions = createRoute({
  getParentRoute: () => template,
  path: "/versions",
  validateSearch: ({ archived }: Readonly<Record<string, unknown>>): VersionListSearch => (archived === true ? { archived } : {}),
  component: lazyScreen(() => import("./VersionList.js"), "VersionList")
})

const version = createRoute({
  getParentRoute: () => template,
  path: "/versions/$version",
  validateSearch: (search: Readonly<Record<string, unknown>>): VersionSearch =>
    typeof search["with"] === "string" ? { with: search["with"] } : {},
  component: lazyScreen(() => import("./VersionDetail.js"), "VersionDetail")
})

const editor = createRoute({
  getParentRoute: () => rootRoute,
  path: "/templates/$organization/$template/versions/$version/edit",
  validateSearch: ({ file }: Readonly<Record<string, unknown>>): EditorSearch => (typeof file === "string" ? { file } : {}),
  component: lazyScreen(() => import("./editor/TemplateEditor.js"), "TemplateEditor")
})

const insights = createRoute({
  getParentRoute: () => template,
  path: "/insights",
  validateSearch: usageSearch,
  component: lazyScreen(() => import("./TemplateInsights.js"), "TemplateInsights")
})

const prebuilds = createRoute({
  getParentRoute: () => template,
  path: "/prebuilds",
  component: lazyScreen(() => import("./Prebuilds.js"), "Prebuilds")
})

const settings = createRoute({
  getParentRoute: () => template,
  path: "/settings",
  component: lazyScreen(() => import("./settings/General.js"), "General")
})

const schedule = createRoute({
  getParentRoute: () => template,
  path: "/settings/schedule",
  component: lazyScreen(() => import("./settings/Schedule.js"), "Schedule")
})

const permissions = createRoute({
  getParentRoute: () => template,
  path: "/settings/permissions",
  component: lazyScreen(() => import("./settings/Permissions.js"), "Permissions")
})

const variables = createRoute({
  getParentRoute: () => template,
  path: "/settings/variables",
  component: lazyScreen(() => import("./settings/Variables.js"), "Variables")
})

export const templateRoutes = [
  list,
  starters,
  editor,
  template.addChildren([overview, versions, version, insights, prebuilds, settings, schedule, permissions, variables])
] as const
