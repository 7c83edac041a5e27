/** This area's groups of endpoints. */
import * as HttpApi from "@effect/platform/HttpApi"
import { audit } from "./audit.js"

export const area = HttpApi.make("audit").add(audit)
