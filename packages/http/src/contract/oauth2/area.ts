/** This area's groups of endpoints. */
import * as HttpApi from "@effect/platform/HttpApi"
import { oauth2Provider } from "./oauth2Provider.js"

export const area = HttpApi.make("oauth2").add(oauth2Provider)
