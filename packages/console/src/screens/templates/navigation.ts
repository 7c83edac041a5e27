import { LayoutTemplate } from "lucide-react"
import type { Destination } from "../../app/area.js"
import { templatesText } from "../../texts/templates.js"

export const templatesDestination: Destination = {
  label: templatesText.title,
  icon: LayoutTemplate,
  link: { to: "/templates" },
  keys: "g t",
  keywords: ["versions", "presets", "starter"]
}
