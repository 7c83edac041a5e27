import { LayoutTemplate } from "lucide-react"
import type { Destination } from "../../app/area.js"
import { placesText } from "../../texts/places.js"

export const templatesDestination: Destination = {
  label: placesText.templates,
  icon: LayoutTemplate,
  link: { to: "/templates" },
  keys: "g t",
  keywords: ["versions", "presets", "starter"]
}
