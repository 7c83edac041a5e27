/** This area's groups of endpoints. */
import * as HttpApi from "@effect/platform/HttpApi"
import { network } from "./network.js"
import { relay } from "./relay.js"

export const area = HttpApi.make("network").add(network).add(relay)
