/** The parts of the deployment, as its tabs and the palette have them. */
import type { LinkProps } from "@tanstack/react-router"
import type { Check } from "../../app/check.js"
import { deploymentText } from "../../texts/deployment.js"

export const optionsCheck: Check = { on: "deployment_config", to: "read" }
export const insightsCheck: Check = { on: "template", to: "view_insights" }
export const syncCheck: Check = { on: "idpsync_settings", to: "read" }

/** The report of the health is for those who run the deployment. */
export const healthCheck: Check = { on: "debug_info", to: "read" }

/** What a user has to be allowed to for a part. */
export const partChecks = { health: healthCheck, options: optionsCheck, insights: insightsCheck, sync: syncCheck } as const

interface Part {
  readonly label: string
  readonly link: LinkProps
  readonly needs: keyof typeof partChecks
}

const { tabs } = deploymentText

export const deploymentParts: ReadonlyArray<Part> = [
  { label: tabs.health, link: { to: "/health" }, needs: "health" },
  { label: tabs.options, link: { to: "/deployment/options" }, needs: "options" },
  { label: tabs.insights, link: { to: "/deployment/insights" }, needs: "insights" },
  { label: tabs.appearance, link: { to: "/deployment/appearance" }, needs: "options" },
  { label: tabs.notifications, link: { to: "/deployment/notifications" }, needs: "options" },
  { label: tabs.applications, link: { to: "/deployment/oauth2-provider/apps" }, needs: "options" },
  { label: tabs.proxies, link: { to: "/deployment/workspace-proxies" }, needs: "options" },
  { label: tabs.prebuilds, link: { to: "/deployment/prebuilds" }, needs: "options" },
  { label: tabs.sync, link: { to: "/deployment/idp-org-sync" }, needs: "sync" },
  { label: tabs.licenses, link: { to: "/deployment/licenses" }, needs: "options" }
]
