/** This area's groups of endpoints. */
import * as HttpApi from "@effect/platform/HttpApi"
import { agents, instanceIdentities, ownAgent, terminals } from "./agents.js"

export const area = HttpApi.make("agents").add(agents).add(instanceIdentities).add(ownAgent).add(terminals)
