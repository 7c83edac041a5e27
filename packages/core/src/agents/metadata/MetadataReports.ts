import { Context, Duration, Effect, Option, type Stream } from "effect"
import * as Access from "../../access/Access.js"
import type { Entitled } from "../../access/streams/StreamRights.js"
import { Invalid, type Forbidden, type NotFound } from "../../platform/Errors.js"
import { EventBus } from "../../platform/events/EventBus.js"
import * as Lru from "../../platform/collections/Lru.js"
import { makeSharedReads, source } from "../../platform/events/SharedReads.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { agentMetadata, publishMetadataChange } from "../AgentEvents.js"
import type { AgentMetadata } from "./AgentMetadata.js"
import { AgentMetadataRepository, type MetadataValue } from "./AgentMetadataRepository.js"
import { AgentRepository } from "../AgentRepository.js"
import { Agents } from "../Agents.js"
import { type AgentWorkspace, reportingObject } from "../AgentWorkspace.js"
import { makeBatch } from "../reports/Batch.js"
import { maximumKeyBytes, storedValue } from "./MetadataValue.js"
import type { WorkspaceAgentId } from "../WorkspaceAgent.js"
import { service, standingOn } from "../../platform/wiring/Standing.js"
import * as Traced from "../../platform/wiring/Traced.js"
import type { CurrentActor } from "../../access/actors/Actor.js"

/** A metadata item as watchers see it. */
export interface MetadataView {
  readonly result: {
    readonly collected_at: Timestamp.Timestamp
    /** Seconds since it was collected. */
    readonly age: number
    readonly value: string
    readonly error: string
  }
  readonly description: Pick<AgentMetadata, "display_name" | "key" | "script" | "interval" | "timeout">
}

/** Watchers are told of changes at most this often. */
const interval = Duration.seconds(1)

/** Rounds of that interval after which watchers are told in any case. */
const roundsBetweenRefreshes = 5

/** Agents whose keys are kept: more than one process has connected, as each of them reports every few seconds. */
const knownAgents = 16_384

/** Different sets of keys that are kept. */
const knownSets = 256

/** Characters of keys that are kept of the agents, with those that agents have in common counted for each; and of the different sets. */
const maximumKnown = 2 ** 23
const maximumSets = 2 ** 20

const weightOf = (_: unknown, keys: ReadonlySet<string>): number => Array.from(keys).reduce((sum, { length }) => sum + length, 0)

const viewAt =
  (now: Timestamp.Timestamp) =>
  (row: AgentMetadata): MetadataView => ({
    result: {
      collected_at: row.collected_at,
      age: Math.floor(Math.max(0, Timestamp.toMillis(now) - Timestamp.toMillis(row.collected_at)) / 1000),
      value: row.value,
      error: row.error
    },
    description: { display_name: row.display_name, key: row.key, script: row.script, interval: row.interval, timeout: row.timeout }
  })

/** The methods of {@link MetadataReports}. */
export interface MetadataReportsService {
  /**
   * Takes what an agent collected; it is stored within 5 s. Values and errors that are too long are cut. Fails with `Invalid` after
   * the first keys that fit, when all of them together are too long. agents-and-apps.md §8.
   */
  readonly report: (
    agent: AgentWorkspace,
    items: ReadonlyArray<{ readonly key: string; readonly value: string; readonly error: string }>
  ) => Effect.Effect<undefined, Invalid | Forbidden, CurrentActor>

  /**
   * Streams an agent's metadata after each change, at most once a second, and at least every 5 s, until the agent is no longer part of
   * its workspace's latest build. All watchers share one read. Fails with `NotFound` for actors who may not read the workspace.
   */
  readonly watch: (id: WorkspaceAgentId) => Effect.Effect<Entitled<ReadonlyArray<MetadataView>>, NotFound, CurrentActor>
}

const make = Effect.gen(function* () {
  const repository = yield* AgentMetadataRepository
  const readers = yield* Agents
  const agents = yield* AgentRepository
  const bus = yield* EventBus

  const batch = yield* makeBatch<MetadataValue>({
    name: "agent metadata",
    key: ({ key, workspace_agent_id }) => `${workspace_agent_id}:${key}`,
    every: "5 seconds",
    threshold: 500,
    capacity: 2500,
    write: (values) =>
      Effect.zipRight(
        repository.update(values),
        publishMetadataChange(Array.from(new Set(values.map(({ workspace_agent_id }) => workspace_agent_id))))
      ).pipe(Effect.provideService(EventBus, bus))
  })

  /** The keys each agent has, which never change: unknown ones must not crowd out others' values. Agents of one template have theirs in common. */
  const known = Lru.make<WorkspaceAgentId, ReadonlySet<string>>(knownAgents, { maximum: maximumKnown, weightOf })
  const sets = Lru.make<string, ReadonlySet<string>>(knownSets, { maximum: maximumSets, weightOf })
  const keysOf = (id: WorkspaceAgentId): Effect.Effect<ReadonlySet<string>> =>
    Effect.suspend(() => {
      const keys = known.get(id)
      if (keys !== undefined) return Effect.succeed(keys)
      return Effect.map(repository.ofAgent(id), (rows) => {
        const names = rows.map(({ key }) => key)
        const text = JSON.stringify(names)
        const found = sets.get(text) ?? new Set(names)
        sets.set(text, found)
        known.set(id, found)
        return found
      })
    })

  /** Watchers of an agent read in rounds of a second: in those that follow a change, and in every fifth. */
  const ofAgent = yield* makeSharedReads<WorkspaceAgentId>({
    nameOf: (id) => id,
    sourcesOf: () => [source(agentMetadata, ({ agent_ids }, id) => agent_ids.includes(id))],
    every: Duration.times(interval, roundsBetweenRefreshes),
    rounds: roundsBetweenRefreshes
  })

  const watched = (id: WorkspaceAgentId): Stream.Stream<ReadonlyArray<MetadataView>> =>
    ofAgent(id, (shared) => {
      const isLatest = Effect.suspend(() => shared.once("is latest", agents.isLatest(id)))
      const rows = Effect.suspend(() => shared.once("rows", repository.ofAgent(id)))
      // The last values of a former build's agent no longer change
      let isLast = false
      const next = Effect.map(Effect.all([isLatest, rows, Timestamp.now]), ([latest, found, now]) => {
        isLast = !latest
        return Option.some([found.map(viewAt(now))])
      })
      return { pull: () => (isLast ? Effect.succeedNone : next), hasMore: () => isLast }
    })

  return {
    report: Traced.fn("MetadataReports.report")(function* (
      agent: AgentWorkspace,
      items: ReadonlyArray<{ readonly key: string; readonly value: string; readonly error: string }>
    ) {
      yield* Access.authorize("update", reportingObject(agent))
      const collected_at = yield* Timestamp.now
      const keys = yield* keysOf(agent.agent_id)
      const encoder = new TextEncoder()
      let bytes = 0
      for (const { error, key, value } of items) {
        bytes += encoder.encode(key).length
        if (bytes > maximumKeyBytes || !keys.has(key)) continue
        yield* batch.add({ workspace_agent_id: agent.agent_id, key, ...storedValue(value, error), collected_at })
      }
      if (bytes > maximumKeyBytes) {
        return yield* new Invalid({ message: `The metadata keys have ${bytes} bytes, more than the maximum of ${maximumKeyBytes}` })
      }
    }),

    watch: Traced.fn("MetadataReports.watch")(function* (id: WorkspaceAgentId) {
      const [right] = yield* readers.rightToRead(id)
      return { right, values: watched(id) } satisfies Entitled<ReadonlyArray<MetadataView>>
    })
  }
})

/** Metadata that agents collect about their workspaces. */
export class MetadataReports extends Context.Tag("@atelier/core/MetadataReports")<MetadataReports, MetadataReportsService>() {
  static readonly layer = standingOn(service(MetadataReports, make), Agents.layer)
}
