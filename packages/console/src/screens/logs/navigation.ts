import { Cable, ScrollText } from "lucide-react"
import type { Destination } from "../../app/area.js"
import { auditText, connectionsText } from "../../texts/logs.js"

export const auditDestination: Destination = {
  label: auditText.title,
  icon: ScrollText,
  link: { to: "/audit" },
  keys: "g a",
  keywords: ["history", "changes", "security"],
  needs: { on: "audit_log", to: "read", anyOrganization: true }
}

export const connectionsDestination: Destination = {
  label: connectionsText.title,
  icon: Cable,
  link: { to: "/connectionlog" },
  keywords: ["ssh", "sessions", "security"],
  needs: { on: "connection_log", to: "read", anyOrganization: true }
}
