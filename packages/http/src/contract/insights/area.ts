/** This area's groups of endpoints. */
import * as HttpApi from "@effect/platform/HttpApi"
import { diagnostics } from "./diagnostics.js"
import { insights } from "./insights.js"

export const area = HttpApi.make("insights").add(insights).add(diagnostics)
