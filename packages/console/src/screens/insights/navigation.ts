import { ChartColumn } from "lucide-react"
import type { Destination } from "../../app/area.js"
import { placesText } from "../../texts/places.js"

export const insightsDestination: Destination = {
  label: placesText.insights,
  icon: ChartColumn,
  link: { to: "/deployment/insights" },
  keys: "g i",
  keywords: ["statistics", "active users", "latency", "activity"],
  needs: { on: "template", to: "view_insights" }
}
