import { Context, Effect } from "effect"
import { Access, AccessObjects, type CurrentActor } from "../access/index.js"
import type { Forbidden } from "../platform/Errors.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import { AgentLinks, type LinkedAgent } from "./AgentLinks.js"
import type { PeerView } from "./Coordination.js"
import { Coordinator } from "./Coordinator.js"

/** What the process knows of the private network, for those who may read debugging information. All fail with `Forbidden` for others. */
export class NetworkState extends Context.Tag("@atelier/core/NetworkState")<
  NetworkState,
  {
    /** The peers of the deployment, in the order of their ids. */
    readonly peers: Effect.Effect<ReadonlyArray<PeerView>, Forbidden, CurrentActor>
    /** The agents that this process reaches through their own connections. */
    readonly agents: Effect.Effect<ReadonlyArray<LinkedAgent>, Forbidden, CurrentActor>
  }
>() {
  static readonly layer = standingOn(
    service(
      NetworkState,
      Effect.gen(function* () {
        const { peers } = yield* Coordinator
        const { linked } = yield* AgentLinks
        const permitted = Access.authorize("read", AccessObjects.bare("debug_info"))
        return { peers: Effect.zipRight(permitted, peers), agents: Effect.zipRight(permitted, linked) }
      })
    ),
    AgentLinks.layer,
    Coordinator.layer
  )
}
