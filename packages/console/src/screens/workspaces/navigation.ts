import { Box } from "lucide-react"
import type { Destination } from "../../app/area.js"
import { placesText } from "../../texts/places.js"

export const workspacesDestination: Destination = {
  label: placesText.workspaces,
  icon: Box,
  link: { to: "/workspaces" },
  keys: "g w",
  keywords: ["environments", "home"]
}
