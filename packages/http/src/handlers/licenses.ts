import { requireFeature } from "@atelier/core/deployment"
import { Layer } from "effect"
import { AiLicensed, CustomRolesLicensed, GroupsLicensed, OrganizationsLicensed, QuietHoursLicensed } from "../contract/licenses.js"
import { together } from "@atelier/core/platform"

/** The middleware of endpoints that need a license. */
export const layerLicenses = together(
  Layer.succeed(AiLicensed, requireFeature("aibridge")),
  Layer.succeed(CustomRolesLicensed, requireFeature("custom_roles")),
  Layer.succeed(GroupsLicensed, requireFeature("template_rbac")),
  Layer.succeed(OrganizationsLicensed, requireFeature("multiple_organizations")),
  Layer.succeed(QuietHoursLicensed, requireFeature("advanced_template_scheduling"))
)
