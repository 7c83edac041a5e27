/** The addresses of templates. */
import { createRoute, lazyRouteComponent } from "@tanstack/react-router"
import { rootRoute } from "../../app/root.js"

export const templateRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/starter-templates",
    component: lazyRouteComponent(() => import("./Starters.js"), "Starters")
  })
] as const
