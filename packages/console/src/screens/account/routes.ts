/** The addresses of the user's own account. */
import { createRoute, redirect } from "@tanstack/react-router"
import { lazyScreen } from "../../app/lazy.js"
import { rootRoute } from "../../app/root.js"

export interface NotificationSearch {
  /** The event that a message's link asks to switch off. */
  readonly disabled?: string
}

export interface SecretSearch {
  /** The dialog that is open. */
  readonly open?: "new" | "import"
}

export const accountRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/settings",
    beforeLoad: () => {
      throw redirect({ to: "/settings/account", replace: true })
    }
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/settings/account",
    component: lazyScreen(() => import("./Profile.js"), "Profile")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/settings/security",
    component: lazyScreen(() => import("./Security.js"), "Security")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/settings/tokens",
    component: lazyScreen(() => import("./Tokens.js"), "Tokens")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/settings/tokens/new",
    component: lazyScreen(() => import("./NewToken.js"), "NewToken")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/settings/ssh-keys",
    component: lazyScreen(() => import("./SshKeys.js"), "SshKeys")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/settings/secrets",
    validateSearch: ({ open }: Readonly<Record<string, unknown>>): SecretSearch => (open === "new" || open === "import" ? { open } : {}),
    component: lazyScreen(() => import("./Secrets.js"), "Secrets")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/settings/external-auth",
    component: lazyScreen(() => import("./ExternalAuth.js"), "ExternalAuth")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/settings/notifications",
    validateSearch: ({ disabled }: Readonly<Record<string, unknown>>): NotificationSearch =>
      typeof disabled === "string" && disabled !== "" ? { disabled } : {},
    component: lazyScreen(() => import("./Notifications.js"), "Notifications")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/settings/appearance",
    component: lazyScreen(() => import("./Appearance.js"), "Appearance")
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: "/settings/schedule",
    component: lazyScreen(() => import("./Schedule.js"), "Schedule")
  })
] as const
