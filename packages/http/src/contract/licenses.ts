/**
 * Endpoints that refuse every request without a license, independent of its content. Where the middleware stands before authentication,
 * even an anonymous caller learns that. authorization.md §14.
 */
import * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import { refusals } from "../wire/errors.js"

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
