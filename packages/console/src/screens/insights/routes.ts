/** The address of the deployment's insights. */
import { createRoute } from "@tanstack/react-router"
import { lazyScreen } from "../../app/lazy.js"
import { rootRoute } from "../../app/root.js"
import { type UsageSearch, usageSearch } from "./usageSearch.js"

export interface InsightsSearch extends UsageSearch {
  /** The ids of templates, with commas between them. */
  readonly templates?: string
}

export const insightsRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/deployment/insights",
    validateSearch: (search: Readonly<Record<string, unknown>>): InsightsSearch => ({
      ...usageSearch(search),
      ...(typeof search["templates"] === "string" && search["templates"] !== "" ? { templates: search["templates"] } : {})
    }),
    component: lazyScreen(() => import("./Insights.js"), "Insights")
  })
] as const
