import { requireFeature } from "@atelier/core/deployment"
import { AiLicensed, CustomRolesLicensed, GroupsLicensed, OrganizationsLicensed, QuietHoursLicensed } from "../contract/licenses.js"
import { existing, together } from "@atelier/core/platform"

/** The middleware of endpoints that need a license. */
export const layerLicenses = together(
  existing(AiLicensed, requireFeature("aibridge")),
  existing(CustomRolesLicensed, requireFeature("custom_roles")),
  existing(GroupsLicensed, requireFeature("template_rbac")),
  existing(OrganizationsLicensed, requireFeature("multiple_organizations")),
  existing(QuietHoursLicensed, requireFeature("advanced_template_scheduling"))
)
