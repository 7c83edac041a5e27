/** The events between replicas: those of a replica itself come at once, those of others when the world says so, late, twice, in another order, or never. */
import { EventBus, Events, service } from "@atelier/core/platform"
import { Effect } from "effect"
import type { Process, World } from "./World.js"

export interface FaultyBus {
  readonly layerOf: (process: Process) => ReturnType<typeof busLayer>
  /** Keeps messages from a replica for a time. At its end the replica notices that it may have lost some. */
  readonly deafen: (process: Process, millis: number) => void
  readonly setDoubled: (likelihood: number) => void
}

type Router = Effect.Effect.Success<typeof Events.makeRouter>

const busLayer = (make: Effect.Effect<EventBus["Type"]>) => service(EventBus, make)

export const makeBus = (world: World, isShared: boolean): FaultyBus => {
  const routers = new Map<Process, Router>()
  const deaf = new Set<Process>()
  let doubled = 0

  const send = (to: Process, router: Router, channel: string, message: string): void => {
    const happen = (): void => {
      if (!deaf.has(to)) router.deliver(channel, message)
    }
    world.submit({ process: to, name: `hears ${channel}`, happen })
    if (world.chance.is(doubled)) world.submit({ process: to, name: `hears ${channel} again`, happen })
  }

  return {
    layerOf: (process) =>
      busLayer(
        Effect.map(Events.makeRouter, (router) => {
          routers.set(process, router)
          return EventBus.of({
            isShared,
            publish: (channel, message) =>
              Effect.sync(() => {
                router.deliver(channel, message)
                for (const [other, its] of routers) {
                  if (!other.isAlive) routers.delete(other)
                  else if (other !== process) send(other, its, channel, message)
                }
              }),
            listen: router.listen
          })
        })
      ),
    deafen: (process, millis) => {
      deaf.add(process)
      world.after(
        millis,
        () => {
          deaf.delete(process)
          routers.get(process)?.lost()
        },
        process
      )
    },
    setDoubled: (likelihood) => {
      doubled = likelihood
    }
  }
}
