import { Box } from "lucide-react"
import type { Destination } from "../../app/area.js"
import { placesText } from "../../texts/places.js"

export const workspacesDestination: Destination = {
  label: placesText.workspaces,
  icon: Box,
  link: { to: "/workspaces" },
  isAt: (path) => /^\/(?:workspaces|new|@.*)(?:\/|$)/.test(path),
  keys: "g w",
  keywords: ["environments", "home"]
}
