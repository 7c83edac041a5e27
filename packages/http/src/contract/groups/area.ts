/** This area's groups of endpoints. */
import * as HttpApi from "@effect/platform/HttpApi"
import { groups, organizationGroups } from "./groups.js"

export const area = HttpApi.make("groups").add(groups).add(organizationGroups)
