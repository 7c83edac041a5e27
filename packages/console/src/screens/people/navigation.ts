import { Building2, Users } from "lucide-react"
import type { Destination } from "../../app/area.js"
import { placesText } from "../../texts/places.js"

export const usersDestination: Destination = {
  label: placesText.users,
  icon: Users,
  link: { to: "/deployment/users" },
  keys: "g u",
  keywords: ["people", "accounts", "members"],
  needs: { on: "user", to: "read" }
}

export const organizationsDestination: Destination = {
  label: placesText.organizations,
  icon: Building2,
  link: { to: "/organizations" },
  keys: "g o",
  keywords: ["groups", "roles", "members"]
}
