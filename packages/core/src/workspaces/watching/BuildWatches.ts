import { Clock, Context, Duration, Effect, Option, Queue, Schema, Stream } from "effect"
import * as Access from "../../access/Access.js"
import * as AccessObjects from "../../access/AccessObjects.js"
import { rightTo, type StreamRight } from "../../access/streams/StreamRights.js"
import { AgentLifecycle } from "../../agents/AgentLifecycle.js"
import { BuildResources } from "../../agents/resources/BuildResources.js"
import { DeploymentOptions } from "../../deployment/options/DeploymentOptions.js"
import { Forbidden, type NotFound } from "../../platform/Errors.js"
import { EventBus, listen } from "../../platform/events/EventBus.js"
import { uuidV7 } from "../../platform/Ids.js"
import * as Numbers from "../../platform/Numbers.js"
import { storeUnavailable } from "../../platform/store/StoreUnavailable.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import { BuildTransition } from "../../provisioning/jobs/BuildTransition.js"
import { isActive, JobStatus, jobStatus } from "../../provisioning/jobs/ProvisionerJob.js"
import { visibleWorkspace } from "../VisibleWorkspace.js"
import type { WorkspaceId } from "../Workspace.js"
import { type BuildDetails, WorkspaceBuildRepository } from "../builds/WorkspaceBuildRepository.js"
import { buildEnds, workspaceEvents } from "./WorkspaceEvents.js"
import { WorkspaceRepository } from "../WorkspaceRepository.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { CurrentActor } from "../../access/actors/Actor.js"

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

/** What those who wait for a connection to an agent are told: one of the updates, or the error that ends the stream. workspaces.md §6.3. */
export const ConnectionWatchEvent = Schema.Struct({
  error: Schema.NullOr(Schema.Struct({ code: Schema.Int, retryable: Schema.Boolean, message: Schema.String })),
  build_update: Schema.optional(Schema.Struct({ transition: BuildTransition, job_status: JobStatus })),
  agent_update: Schema.optional(Schema.Struct({ lifecycle: AgentLifecycle, id: Uuid }))
})
export interface ConnectionWatchEvent extends Schema.Schema.Type<typeof ConnectionWatchEvent> {}

const failed = (code: number, message: string, retryable = false): ConnectionWatchEvent => ({ error: { code, retryable, message } })
const severalAgents = failed(1, "The workspace has several agents: name one.")
const unknownAgent = failed(2, "The workspace has no agent of this name.")
const noAgents = failed(3, "The workspace has no agents.")
const storeAway = failed(5, "The store is not available.", true)
const broken = failed(6, "An internal error occurred.")

const equal = (one: ConnectionWatchEvent | undefined, other: ConnectionWatchEvent): boolean => JSON.stringify(one) === JSON.stringify(other)

/** The methods of {@link BuildWatches}. */
export interface BuildWatchesService {
  /**
   * Each build of the deployment that has ended, from now on. Fails with `Forbidden` without the experiment `workspace-build-updates`, or
   * if the actor may not read all workspaces. workspaces.md §6.4.
   */
  readonly ended: () => Effect.Effect<{ readonly right: StreamRight; readonly values: Stream.Stream<EndedBuild> }, Forbidden, CurrentActor>

  /**
   * What stands between a client and an agent: the state of the latest build, and once it runs, of the agent. Without a name it is the only
   * agent. Ends with an error if that agent cannot be told. Fails with `NotFound` if the actor may not read the workspace. §6.3.
   */
  readonly agentConnection: (
    id: WorkspaceId,
    agentName: string
  ) => Effect.Effect<{ readonly right: StreamRight; readonly values: Stream.Stream<ConnectionWatchEvent> }, NotFound, CurrentActor>
}

const make = Effect.gen(function* () {
  const workspaces = yield* WorkspaceRepository
  const builds = yield* WorkspaceBuildRepository
  const resources = yield* BuildResources
  const bus = yield* EventBus

  const agentUpdate = ({ job_id }: BuildDetails, name: string) =>
    Effect.map(resources.ofJobs([job_id]), (made): ConnectionWatchEvent => {
      const agents = (made.get(job_id) ?? []).flatMap((resource) => resource.agents)
      const main = agents.filter(({ parent_id }) => parent_id === null)
      if (agents.length === 0) return noAgents
      if (name === "" && main.length > 1) return severalAgents
      const agent = name === "" ? main[0] : agents.find((candidate) => candidate.name === name)
      return agent === undefined ? unknownAgent : { error: null, agent_update: { lifecycle: agent.lifecycle_state, id: agent.id } }
    })

  /** The updates since those that were sent last; the agent's only while the workspace runs. */
  const updates = (id: WorkspaceId, name: string) => {
    let number: number | undefined
    let build: ConnectionWatchEvent | undefined
    let agent: ConnectionWatchEvent | undefined
    return Effect.gen(function* () {
      const latest = yield* Effect.flatMap(builds.latest(id), Effect.orDie)
      const { build_number, transition } = latest
      const job_status = jobStatus(latest.job)
      const changed: Array<ConnectionWatchEvent> = []
      const buildNow: ConnectionWatchEvent = { error: null, build_update: { transition, job_status } }
      if (number !== build_number || !equal(build, buildNow)) {
        changed.push(buildNow)
        agent = undefined
      }
      number = build_number
      build = buildNow
      if (transition !== "start" || job_status !== "succeeded") return changed
      const agentNow = yield* agentUpdate(latest, name)
      if (!equal(agent, agentNow)) changed.push(agentNow)
      agent = agentNow
      return changed
    })
  }

  return {
    ended: Traced.fn("BuildWatches.ended")(function* () {
      const permission = Effect.gen(function* () {
        const { experiments } = yield* DeploymentOptions
        if (!experiments.includes("workspace-build-updates")) {
          return yield* new Forbidden({ message: "The experiment workspace-build-updates is off." })
        }
        yield* Access.authorize("read", AccessObjects.bare("workspace"))
      })
      const [right] = yield* rightTo("workspace:*", permission)
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
      const values = Stream.unwrapScoped(
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
      return { right, values }
    }),

    agentConnection: Traced.fn("BuildWatches.agentConnection")(function* (id: WorkspaceId, agentName: string) {
      const [right, { owner_id }] = yield* rightTo(
        `workspace:${id}`,
        Effect.flatMap(workspaces.byId(id), (found) => visibleWorkspace(found))
      )
      const values = Stream.unwrapScoped(
        Effect.gen(function* () {
          const wakes = yield* Queue.sliding<void>(capacity)
          yield* listen(workspaceEvents(owner_id), (delivery) => {
            if (delivery._tag === "Lost" || delivery.event.workspace_id === id) wakes.unsafeOffer(undefined)
          })
          wakes.unsafeOffer(undefined)
          return Stream.flattenIterables(Stream.repeatEffect(Effect.zipRight(Effect.timeoutOption(wakes.take, recheck), next)))
        })
      ).pipe(
        Stream.provideService(EventBus, bus),
        Stream.catchAllCause((cause) =>
          Option.isSome(storeUnavailable(cause))
            ? Stream.make(storeAway)
            : Stream.fromEffect(Effect.as(Effect.logError("an agent's connection cannot be watched", cause), broken))
        ),
        Stream.takeUntil(({ error }) => error !== null)
      )
      const next = updates(id, agentName)
      return { right, values }
    })
  }
})

/** The progress of builds, for clients that wait for them. */
export class BuildWatches extends Context.Tag("@atelier/core/BuildWatches")<BuildWatches, BuildWatchesService>() {
  static readonly layer = standingOn(service(BuildWatches, make), BuildResources.layer)
}
