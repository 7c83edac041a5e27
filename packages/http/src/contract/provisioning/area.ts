/** This area's groups of endpoints. */
import * as HttpApi from "@effect/platform/HttpApi"
import { provisionerKeys } from "./provisionerKeys.js"
import { provisioning } from "./provisioning.js"

export const area = HttpApi.make("provisioning").add(provisioning).add(provisionerKeys)
