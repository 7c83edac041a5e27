import { Building2, Users } from "lucide-react"
import type { Destination } from "../../app/area.js"
import { organizationsText, usersText } from "../../texts/people.js"

export const usersDestination: Destination = {
  label: usersText.title,
  icon: Users,
  link: { to: "/deployment/users" },
  keys: "g u",
  keywords: ["people", "accounts", "members"],
  needs: { on: "user", to: "read" }
}

export const organizationsDestination: Destination = {
  label: organizationsText.title,
  icon: Building2,
  link: { to: "/organizations" },
  keys: "g o",
  keywords: ["groups", "roles", "members"]
}
