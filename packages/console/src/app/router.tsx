/** The router of the page. */
import { createRouter } from "@tanstack/react-router"
import { config } from "./config.js"
import { CrashScreen, NotFoundScreen } from "./LostScreens.js"
import { rootRoute } from "./root.js"
import { routeTree } from "./routes.js"
import { Shell } from "./Shell.js"

rootRoute.update({ component: Shell, notFoundComponent: NotFoundScreen, errorComponent: CrashScreen })

export const router = createRouter({
  routeTree,
  basepath: config.base,
  defaultPreload: "intent",
  defaultPreloadDelay: 60,
  scrollRestoration: true,
  // The main area scrolls, not the page
  scrollToTopSelectors: ["main"],
  getScrollRestorationKey: ({ pathname }) => pathname,
  defaultNotFoundComponent: NotFoundScreen,
  defaultErrorComponent: CrashScreen
})

declare module "@tanstack/react-router" {
  interface Register {
    readonly router: typeof router
  }
}
