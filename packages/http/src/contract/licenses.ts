/**
 * Endpoints that answer nobody without a license, whatever else the request is. Where the middleware stands before that of authentication,
 * nobody has to log in to learn that. authorization.md §14.
 */
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import { refusals } from "../errors.js"

const refusing = { failure: refusals("Forbidden") }

/** `aibridge`. */
export class AiLicensed extends HttpApiMiddleware.Tag<AiLicensed>()("@atelier/http/AiLicensed", refusing) {}

/** `custom_roles`. */
export class CustomRolesLicensed extends HttpApiMiddleware.Tag<CustomRolesLicensed>()("@atelier/http/CustomRolesLicensed", refusing) {}

/** `template_rbac`. */
export class GroupsLicensed extends HttpApiMiddleware.Tag<GroupsLicensed>()("@atelier/http/GroupsLicensed", refusing) {}

/** `multiple_organizations`. */
export class OrganizationsLicensed extends HttpApiMiddleware.Tag<OrganizationsLicensed>()(
  "@atelier/http/OrganizationsLicensed",
  refusing
) {}

/** `advanced_template_scheduling`. */
export class QuietHoursLicensed extends HttpApiMiddleware.Tag<QuietHoursLicensed>()("@atelier/http/QuietHoursLicensed", refusing) {}
