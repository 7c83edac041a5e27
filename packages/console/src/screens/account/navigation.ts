import { Settings } from "lucide-react"
import type { Destination } from "../../app/area.js"
import { placesText } from "../../texts/places.js"

export const accountDestination: Destination = {
  label: placesText.settings,
  icon: Settings,
  link: { to: "/settings/account" },
  isAt: (path) => path.startsWith("/settings"),
  keys: "g s",
  keywords: ["account", "profile", "password"]
}
