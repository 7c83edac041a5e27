import { Sparkles } from "lucide-react"
import type { Destination } from "../../app/area.js"
import { placesText } from "../../texts/places.js"

export const tasksDestination: Destination = {
  label: placesText.tasks,
  icon: Sparkles,
  link: { to: "/tasks" },
  keys: "g k",
  keywords: ["prompt", "agents", "conversation"]
}
