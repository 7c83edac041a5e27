/** What stands between a client and an agent: the state of the latest build, and once it runs, of the agent. workspaces.md §6.3. */
import { Effect, Option, Queue, Schema, Stream } from "effect"
import { AgentLifecycle } from "../../agents/AgentLifecycle.js"
import type { BuildResources } from "../../agents/resources/BuildResources.js"
import { EventBus, listen } from "../../platform/events/EventBus.js"
import { storeUnavailable } from "../../platform/store/StoreUnavailable.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { BuildTransition } from "../../provisioning/jobs/BuildTransition.js"
import { JobStatus, jobStatus } from "../../provisioning/jobs/ProvisionerJob.js"
import type { Workspace, WorkspaceId } from "../Workspace.js"
import type { BuildDetails, WorkspaceBuildRepository } from "../builds/WorkspaceBuildRepository.js"
import { workspaceEvents } from "./WorkspaceEvents.js"

/** Events that a slow client may fall behind. */
const capacity = 256

/** How often the store is read without an event: events may be lost. */
const recheck = "60 seconds"

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

interface Needs {
  readonly builds: WorkspaceBuildRepository["Type"]
  readonly resources: BuildResources["Type"]
  readonly bus: EventBus["Type"]
}

const agentUpdate = (resources: BuildResources["Type"], { job_id }: BuildDetails, name: string) =>
  Effect.map(resources.ofJobs([job_id]), (made): ConnectionWatchEvent => {
    const agents = (made.get(job_id) ?? []).flatMap((resource) => resource.agents)
    const main = agents.filter(({ parent_id }) => parent_id === null)
    if (agents.length === 0) return noAgents
    if (name === "" && main.length > 1) return severalAgents
    const agent = name === "" ? main[0] : agents.find((candidate) => candidate.name === name)
    return agent === undefined ? unknownAgent : { error: null, agent_update: { lifecycle: agent.lifecycle_state, id: agent.id } }
  })

/** The updates since those that were sent last; the agent's only while the workspace runs. */
const updates = ({ builds, resources }: Needs, id: WorkspaceId, name: string) => {
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
    const agentNow = yield* agentUpdate(resources, latest, name)
    if (!equal(agent, agentNow)) changed.push(agentNow)
    agent = agentNow
    return changed
  })
}

/** The updates about one agent of a workspace. Without a name it is the only agent. Ends with an error if that agent cannot be told. */
export const agentConnection = (
  needs: Needs,
  { id, owner_id }: Pick<Workspace, "id" | "owner_id">,
  agentName: string
): Stream.Stream<ConnectionWatchEvent> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      const next = updates(needs, id, agentName)
      const wakes = yield* Queue.sliding<void>(capacity)
      yield* listen(workspaceEvents(owner_id), (delivery) => {
        if (delivery._tag === "Lost" || delivery.event.workspace_id === id) wakes.unsafeOffer(undefined)
      })
      wakes.unsafeOffer(undefined)
      return Stream.flattenIterables(Stream.repeatEffect(Effect.zipRight(Effect.timeoutOption(wakes.take, recheck), next)))
    })
  ).pipe(
    Stream.provideService(EventBus, needs.bus),
    Stream.catchAllCause((cause) =>
      Option.isSome(storeUnavailable(cause))
        ? Stream.make(storeAway)
        : Stream.fromEffect(Effect.as(Effect.logError("an agent's connection cannot be watched", cause), broken))
    ),
    Stream.takeUntil(({ error }) => error !== null)
  )
