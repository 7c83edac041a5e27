import { LayoutTemplate } from "lucide-react"
import type { Destination } from "../../app/area.js"
import { placesText } from "../../texts/places.js"

export const templatesDestination: Destination = {
  label: placesText.templates,
  icon: LayoutTemplate,
  link: { to: "/templates" },
  isAt: (path) => /^\/(?:starter-)?templates(?:\/|$)/.test(path),
  keys: "g t",
  keywords: ["versions", "presets", "starter"]
}
