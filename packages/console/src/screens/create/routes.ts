/** The addresses where a workspace is made. */
import { createRoute } from "@tanstack/react-router"
import { lazyScreen } from "../../app/lazy.js"
import { rootRoute } from "../../app/root.js"

/** Values of the form that a link gives: `name`, `preset`, and `param.NAME` for each parameter. */
export type CreateSearch = Readonly<Record<string, string>>

const texts = (search: Readonly<Record<string, unknown>>): CreateSearch =>
  Object.fromEntries(
    Object.entries(search).flatMap(([name, value]) =>
      /^(?:name|preset|version|param\..+)$/.test(name) &&
      (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
        ? [[name, String(value)]]
        : []
    )
  )

export const createRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/new",
    component: lazyScreen(() => import("./Gallery.js"), "Gallery")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/templates/$organization/$template/workspace",
    validateSearch: texts,
    component: lazyScreen(() => import("./CreateWorkspace.js"), "CreateWorkspace")
  })
] as const
