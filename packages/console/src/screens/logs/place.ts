/** Where the console shows what an entry of the audit log is about. */
import type { AuditLog } from "@atelier/client"
import type { LinkProps } from "@tanstack/react-router"

type Entry = Pick<AuditLog, "organization" | "resource_link" | "resource_target" | "resource_type">

/** Returns a link to the screen of the entry's object; undefined for an object that is deleted or has no screen. */
export const placeOf = ({ organization, resource_link, resource_target, resource_type }: Entry): LinkProps | undefined => {
  if (resource_link === "") return undefined
  switch (resource_type) {
    // The service's link names no organization
    case "template":
      return organization === undefined || organization.name === ""
        ? undefined
        : { to: "/templates/$organization/$template", params: { organization: organization.name, template: resource_target } }
    // The service's link leads to a filtered list
    case "user":
      return { to: "/deployment/users/$user", params: { user: resource_target } }
    default:
      // A path that the service made
      return { to: resource_link as never }
  }
}
