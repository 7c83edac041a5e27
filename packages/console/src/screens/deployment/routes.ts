/** The addresses of the deployment's settings. */
import { createRoute } from "@tanstack/react-router"
import { lazyScreen } from "../../app/lazy.js"
import { rootRoute } from "../../app/root.js"

export const deploymentRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/deployment",
    component: lazyScreen(() => import("./DeploymentStart.js"), "DeploymentStart")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/about",
    component: lazyScreen(() => import("./About.js"), "About")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/deployment/prebuilds",
    component: lazyScreen(() => import("./Prebuilds.js"), "Prebuilds")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/health",
    component: lazyScreen(() => import("./Health.js"), "Health")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/deployment/options",
    component: lazyScreen(() => import("./OptionList.js"), "OptionList")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/deployment/appearance",
    component: lazyScreen(() => import("./Appearance.js"), "Appearance")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/deployment/notifications",
    component: lazyScreen(() => import("./NotificationMethods.js"), "NotificationMethods")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/deployment/oauth2-provider/apps",
    component: lazyScreen(() => import("./ApplicationList.js"), "ApplicationList")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/deployment/oauth2-provider/apps/$app",
    component: lazyScreen(() => import("./ApplicationDetail.js"), "ApplicationDetail")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/deployment/workspace-proxies",
    component: lazyScreen(() => import("./ProxyList.js"), "ProxyList")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/deployment/licenses",
    component: lazyScreen(() => import("./LicenseList.js"), "LicenseList")
  })
] as const
