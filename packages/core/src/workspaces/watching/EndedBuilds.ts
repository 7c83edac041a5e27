/** The builds of the deployment that end, one after the other, each once. workspaces.md §6.4. */
import { Clock, Duration, Effect, Option, Queue, Schema, Stream } from "effect"
import { EventBus, listen } from "../../platform/events/EventBus.js"
import { uuidV7 } from "../../platform/Ids.js"
import * as Numbers from "../../platform/Numbers.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { BuildTransition } from "../../provisioning/jobs/BuildTransition.js"
import { isActive, JobStatus, jobStatus } from "../../provisioning/jobs/ProvisionerJob.js"
import type { WorkspaceBuildRepository } from "../builds/WorkspaceBuildRepository.js"
import type { WorkspaceRepository } from "../WorkspaceRepository.js"
import { buildEnds } from "./WorkspaceEvents.js"

/** Events that a slow client may fall behind; those that come then are read from the store. */
const capacity = 256

/** How often the store is read without an event: events may be lost. */
const recheck = "60 seconds"

/** How much the clocks of processes that make ids may differ. */
const clockDifference = Duration.toMillis("10 minutes")

/** A build that has ended. workspaces.md §6.4. */
export const EndedBuild = Schema.Struct({
  workspace_id: Uuid,
  workspace_name: Schema.String,
  build_id: Uuid,
  transition: BuildTransition,
  job_status: JobStatus,
  build_number: Numbers.Count
})
export interface EndedBuild extends Schema.Schema.Type<typeof EndedBuild> {}

interface Needs {
  readonly builds: WorkspaceBuildRepository["Type"]
  readonly workspaces: WorkspaceRepository["Type"]
  readonly bus: EventBus["Type"]
}

/** Each build that has ended, from the first demand on. */
export const endedBuilds = ({ builds, bus, workspaces }: Needs): Stream.Stream<EndedBuild> => {
  const endedBuild = (id: Uuid) =>
    Effect.gen(function* () {
      const build = Option.getOrUndefined(yield* builds.byId(id))
      const workspace = build && Option.getOrUndefined(yield* workspaces.byId(build.workspace_id))
      if (build === undefined || workspace === undefined || isActive(jobStatus(build.job))) return []
      const { build_number, transition } = build
      const event: EndedBuild = {
        workspace_id: workspace.id,
        workspace_name: workspace.name,
        build_id: id,
        transition,
        job_status: jobStatus(build.job),
        build_number
      }
      return [event]
    })
  return Stream.unwrapScoped(
    Effect.gen(function* () {
      const wakes = yield* Queue.dropping<Uuid | "read">(capacity)
      let mustRead = false
      yield* listen(buildEnds, (delivery) => {
        const isKept = wakes.unsafeOffer(delivery._tag === "Event" ? delivery.event.build_id : "read")
        mustRead ||= !isKept || delivery._tag === "Lost"
      })
      /** Builds that had not ended when the store was read last, and those with an end that need not be told. */
      let open: ReadonlyArray<Uuid> = []
      let known = new Set<Uuid>()
      let readAt = yield* Clock.currentTimeMillis
      const read = Effect.gen(function* () {
        mustRead = false
        const now = yield* Clock.currentTimeMillis
        const found = yield* builds.progressOf(open, uuidV7(Math.max(0, readAt - clockDifference), new Uint8Array(10)))
        const ends = found.filter(({ id, has_ended }) => has_ended && !known.has(id))
        open = found.flatMap(({ id, has_ended }) => (has_ended ? [] : [id]))
        known = new Set(found.flatMap(({ id, has_ended }) => (has_ended ? [id] : [])))
        readAt = now
        return ends.map(({ id }) => id)
      })
      yield* read
      const next = Effect.gen(function* () {
        const wake = Option.getOrElse(yield* Effect.timeoutOption(wakes.take, recheck), () => "read" as const)
        const age = (yield* Clock.currentTimeMillis) - readAt
        if (mustRead || wake === "read" || age >= Duration.toMillis(recheck)) {
          const events = yield* Effect.forEach(yield* read, endedBuild)
          return events.flat()
        }
        if (known.has(wake)) return []
        const events = yield* endedBuild(wake)
        if (events.length > 0) known.add(wake)
        return events
      })
      return Stream.flattenIterables(Stream.repeatEffect(next))
    })
  ).pipe(Stream.provideService(EventBus, bus))
}
