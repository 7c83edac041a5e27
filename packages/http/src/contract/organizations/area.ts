/** This area's groups of endpoints. */
import * as HttpApi from "@effect/platform/HttpApi"
import { members } from "./members.js"
import { organizations } from "./organizations.js"

export const area = HttpApi.make("organizations").add(members).add(organizations)
