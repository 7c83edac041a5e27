import { Cable, ScrollText } from "lucide-react"
import type { Destination } from "../../app/area.js"
import { placesText } from "../../texts/places.js"

export const auditDestination: Destination = {
  label: placesText.audit,
  icon: ScrollText,
  link: { to: "/audit" },
  keys: "g a",
  keywords: ["history", "changes", "security"],
  needs: { on: "audit_log", to: "read", anyOrganization: true }
}

export const connectionsDestination: Destination = {
  label: placesText.connections,
  icon: Cable,
  link: { to: "/connectionlog" },
  keywords: ["ssh", "sessions", "security"],
  needs: { on: "connection_log", to: "read", anyOrganization: true }
}
