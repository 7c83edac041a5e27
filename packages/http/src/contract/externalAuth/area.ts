/** This area's groups of endpoints. */
import * as HttpApi from "@effect/platform/HttpApi"
import { externalAuth } from "./externalAuth.js"

export const area = HttpApi.make("externalAuth").add(externalAuth)
