/** This area's groups of endpoints. */
import * as HttpApi from "@effect/platform/HttpApi"
import { processes } from "./processes.js"

export const area = HttpApi.make("sandboxes").add(processes)
