import { Settings } from "lucide-react"
import type { Destination } from "../../app/area.js"
import { accountText } from "../../texts/account.js"

export const accountDestination: Destination = {
  label: accountText.title,
  icon: Settings,
  link: { to: "/settings/account" },
  keys: "g s",
  keywords: ["account", "profile", "password"]
}
