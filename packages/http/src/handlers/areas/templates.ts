/** How this area's groups of endpoints are implemented. */
import { templateSharing } from "../sharing.js"
import { templateBuilder } from "../templateBuilder.js"
import { templates } from "../templates.js"
import { templateVersions } from "../templateVersions.js"
import { together } from "@atelier/core/platform"

export const area = together(templateBuilder, templateSharing, templates, templateVersions)
