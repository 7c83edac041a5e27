/** This area's groups of endpoints. */
import * as HttpApi from "@effect/platform/HttpApi"
import { templateSharing } from "../access/sharing.js"
import { templateBuilder } from "./templateBuilder.js"
import { templates } from "./templates.js"
import { templateVersions } from "./templateVersions.js"

export const area = HttpApi.make("templates").add(templateBuilder).add(templateSharing).add(templates).add(templateVersions)
