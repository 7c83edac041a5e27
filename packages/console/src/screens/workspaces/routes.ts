/** The addresses of workspaces. */
import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router"
import { rootRoute } from "../../app/root.js"

export interface WorkspaceListSearch {
  readonly filter?: string
  readonly sort?: string
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined)

/** Leaves out what is undefined, so that addresses stay short. */
const given = <A extends object>(fields: A): { [Name in keyof A]?: Exclude<A[Name], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never

export const workspaceRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/",
    beforeLoad: () => {
      throw redirect({ to: "/workspaces", replace: true })
    }
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/workspaces",
    validateSearch: (search: Readonly<Record<string, unknown>>): WorkspaceListSearch =>
      given({ filter: textOf(search["filter"]), sort: textOf(search["sort"]) }),
    component: lazyRouteComponent(() => import("./WorkspaceList.js"), "WorkspaceList")
  })
] as const
