/** How this area's groups of endpoints are implemented. */
import { Layer } from "effect"
import { templateSharing } from "../sharing.js"
import { templateBuilder } from "../templateBuilder.js"
import { templates } from "../templates.js"
import { templateVersions } from "../templateVersions.js"

export const area = Layer.mergeAll(templateBuilder, templateSharing, templates, templateVersions)
