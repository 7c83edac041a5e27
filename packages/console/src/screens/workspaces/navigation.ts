import { Box } from "lucide-react"
import type { Destination } from "../../app/area.js"
import { workspacesText } from "../../texts/workspaces.js"

export const workspacesDestination: Destination = {
  label: workspacesText.title,
  icon: Box,
  link: { to: "/workspaces" },
  keys: "g w",
  keywords: ["environments", "home"]
}
