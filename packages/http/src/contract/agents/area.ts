/** This area's groups of endpoints. */
import * as HttpApi from "@effect/platform/HttpApi"
import { agents } from "./agents.js"
import { instanceIdentities } from "./instanceIdentities.js"
import { ownAgent } from "./ownAgent.js"
import { terminals } from "./terminals.js"

export const area = HttpApi.make("agents").add(agents).add(instanceIdentities).add(ownAgent).add(terminals)
