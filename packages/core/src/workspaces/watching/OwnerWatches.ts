import { Context, Effect, Stream } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { CurrentActor } from "../../access/actors/Actor.js"
import { EventBus, listen } from "../../platform/events/EventBus.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { type WorkspaceEventKind, workspaceEvents } from "./WorkspaceEvents.js"
import { changesBetween, isUnchanged, type WorkspaceChanges, type WorkspaceOutline } from "../views/WorkspaceOutline.js"
import { WorkspaceRepository } from "../WorkspaceRepository.js"
import { service } from "../../platform/wiring/Standing.js"
import type { Unauthenticated, Forbidden } from "../../platform/Errors.js"

/** How often the store is read without an event: events may be lost. */
const recheck = "60 seconds"

/** The events after which the workspaces may look different. */
const telling: ReadonlySet<WorkspaceEventKind> = new Set([
  "state_change",
  "mtd_update",
  "agt_connection_update",
  "agt_timeout",
  "agt_lifecycle_update"
])

/** The methods of {@link OwnerWatches}. */
export interface OwnerWatchesService {
  /**
   * Streams what the actor may know of an owner's workspaces: first the whole list, which may be empty, then each difference. Fails
   * with `Unauthenticated` when the credential has ended. agents-and-apps.md §15.
   */
  readonly changes: (owner: Uuid) => Stream.Stream<WorkspaceChanges, Unauthenticated | Forbidden, CurrentActor>
}

const make = Effect.gen(function* () {
  const repository = yield* WorkspaceRepository
  const bus = yield* EventBus

  /** As the actor may see them now: the rights of a credential change while a stream is open. */
  const outlines = (owner: Uuid) =>
    Effect.gen(function* () {
      const opener = yield* CurrentActor
      const actor = yield* opener.credential?.renew ?? Effect.succeed(opener)
      const found = yield* repository.outlines(owner)
      return yield* Effect.provideService(Access.filter("read", found, AccessObjects.workspace), CurrentActor, actor)
    })

  return {
    changes: (owner: Uuid) =>
      Stream.unwrapScoped(
        Effect.gen(function* () {
          const changed = yield* Effect.makeLatch(true)
          yield* listen(workspaceEvents(owner), (delivery) => {
            if (delivery._tag === "Lost" || telling.has(delivery.event.kind)) changed.unsafeOpen()
          })
          let known: ReadonlyArray<WorkspaceOutline> | undefined
          const next = Effect.gen(function* () {
            yield* Effect.timeoutOption(changed.await, recheck)
            yield* changed.close
            const current = yield* outlines(owner)
            const changes = changesBetween(known ?? [], current)
            const isNews = known === undefined || !isUnchanged(changes)
            known = current
            return isNews ? [changes] : []
          })
          return Stream.flattenIterables(
            Stream.repeatEffect<ReadonlyArray<WorkspaceChanges>, Effect.Effect.Error<typeof next>, CurrentActor>(next)
          )
        })
      ).pipe(Stream.provideService(EventBus, bus))
  }
})

/** Watches of all workspaces of an owner, by clients that reach them through the private network. */
export class OwnerWatches extends Context.Tag("@atelier/core/OwnerWatches")<OwnerWatches, OwnerWatchesService>() {
  static readonly layer = service(OwnerWatches, make)
}
