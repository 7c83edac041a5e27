/** This area's groups of endpoints. */
import * as HttpApi from "@effect/platform/HttpApi"
import { insights } from "../insights.js"

export const area = HttpApi.make("insights").add(insights)
