import { Settings2 } from "lucide-react"
import type { Destination } from "../../app/area.js"
import { placesText } from "../../texts/places.js"

export const deploymentDestination: Destination = {
  label: placesText.deployment,
  icon: Settings2,
  link: { to: "/deployment" },
  // Users and insights have entries of their own
  isAt: (path) => path === "/health" || /^\/deployment(?!\/(?:users|insights)(?:\/|$))/.test(path),
  keys: "g d",
  keywords: ["health", "options", "settings", "appearance", "licenses", "proxies", "notifications", "oauth2"],
  needs: { on: "deployment_config", to: "read" }
}
