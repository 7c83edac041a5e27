/** The addresses of the deployment's settings. */
import { createRoute, lazyRouteComponent, redirect } from "@tanstack/react-router"
import { rootRoute } from "../../app/root.js"

export const deploymentRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/deployment",
    beforeLoad: () => {
      throw redirect({ to: "/health", replace: true })
    }
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/about",
    component: lazyRouteComponent(() => import("./About.js"), "About")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/deployment/prebuilds",
    component: lazyRouteComponent(() => import("./Prebuilds.js"), "Prebuilds")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/health",
    component: lazyRouteComponent(() => import("./Health.js"), "Health")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/deployment/options",
    component: lazyRouteComponent(() => import("./OptionList.js"), "OptionList")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/deployment/appearance",
    component: lazyRouteComponent(() => import("./Appearance.js"), "Appearance")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/deployment/notifications",
    component: lazyRouteComponent(() => import("./NotificationMethods.js"), "NotificationMethods")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/deployment/oauth2-provider/apps",
    component: lazyRouteComponent(() => import("./ApplicationList.js"), "ApplicationList")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/deployment/oauth2-provider/apps/$app",
    component: lazyRouteComponent(() => import("./ApplicationDetail.js"), "ApplicationDetail")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/deployment/workspace-proxies",
    component: lazyRouteComponent(() => import("./ProxyList.js"), "ProxyList")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/deployment/licenses",
    component: lazyRouteComponent(() => import("./LicenseList.js"), "LicenseList")
  })
] as const
