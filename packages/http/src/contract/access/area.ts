/** This area's groups of endpoints. */
import * as HttpApi from "@effect/platform/HttpApi"
import { access } from "./access.js"

export const area = HttpApi.make("access").add(access)
