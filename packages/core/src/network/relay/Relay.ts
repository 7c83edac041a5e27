import { service } from "../../platform/wiring/Standing.js"
import { Context, Effect } from "effect"
import { Access, AccessObjects, type CurrentActor } from "../../access/index.js"
import type { Forbidden } from "../../platform/Errors.js"
import { RelayRouter, type RelayTraffic } from "./RelayRouter.js"

/** The relay of this process: it forwards packets between peers that cannot reach each other. agents-and-apps.md §12. */
export class Relay extends Context.Tag("@atelier/core/Relay")<
  Relay,
  {
    /** The connected peers. They need no permission: a peer proves its key, and reads only packets that were sent to it. */
    readonly router: RelayRouter
    /** The traffic of every peer that is connected. Fails with `Forbidden` unless the actor may read debugging information. */
    readonly traffic: Effect.Effect<ReadonlyArray<RelayTraffic>, Forbidden, CurrentActor>
  }
>() {
  static readonly layer = service(
    Relay,
    Effect.sync(() => {
      const router = new RelayRouter()
      return {
        router,
        traffic: Effect.zipRight(
          Access.authorize("read", AccessObjects.bare("debug_info")),
          Effect.sync(() => router.traffic())
        )
      }
    })
  )
}
