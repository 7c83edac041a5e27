import { Sparkles } from "lucide-react"
import type { Destination } from "../../app/area.js"
import { tasksText } from "../../texts/tasks.js"

export const tasksDestination: Destination = {
  label: tasksText.title,
  icon: Sparkles,
  link: { to: "/tasks" },
  keys: "g k",
  keywords: ["prompt", "agents", "conversation"]
}
