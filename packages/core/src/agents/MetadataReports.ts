import { Context, Duration, Effect, Layer, Schedule, Stream } from "effect"
import * as Access from "../access/Access.js"
import type { Entitled } from "../access/StreamRights.js"
import { Invalid } from "../platform/Errors.js"
import { EventBus, subscribe } from "../platform/EventBus.js"
import * as Lru from "../platform/Lru.js"
import * as Timestamp from "../platform/Timestamp.js"
import { agentMetadata, publishMetadataChange } from "./AgentEvents.js"
import type { AgentMetadata } from "./AgentMetadata.js"
import { AgentMetadataRepository, type MetadataValue } from "./AgentMetadataRepository.js"
import { Agents } from "./Agents.js"
import { type AgentWorkspace, reportingObject } from "./AgentWorkspace.js"
import { makeBatch } from "./Batch.js"
import { maximumKeyBytes, storedValue } from "./MetadataValue.js"
import type { WorkspaceAgentId } from "./WorkspaceAgent.js"

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

const make = Effect.gen(function* () {
  const repository = yield* AgentMetadataRepository
  const readers = yield* Agents
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

  const current = (id: WorkspaceAgentId): Effect.Effect<ReadonlyArray<MetadataView>> =>
    Effect.zipWith(repository.ofAgent(id), Timestamp.now, (rows, now) => rows.map(viewAt(now)))

  /** The keys each agent has, which never change: unknown ones must not crowd out others' values. */
  const known = Lru.make<WorkspaceAgentId, ReadonlySet<string>>(1024)
  const keysOf = (id: WorkspaceAgentId): Effect.Effect<ReadonlySet<string>> =>
    Effect.suspend(() => {
      const keys = known.get(id)
      if (keys !== undefined) return Effect.succeed(keys)
      return Effect.map(repository.ofAgent(id), (rows) => {
        const found = new Set(rows.map(({ key }) => key))
        known.set(id, found)
        return found
      })
    })

  const watched = (id: WorkspaceAgentId): Stream.Stream<ReadonlyArray<MetadataView>, never, EventBus> =>
    Stream.unwrapScoped(
      Effect.gen(function* () {
        let hasChanged = false
        const changes = yield* subscribe(agentMetadata)
        yield* Effect.forkScoped(
          Stream.runForEach(changes, (change) =>
            Effect.sync(() => {
              hasChanged ||= change._tag === "Lost" || change.event.agent_ids.includes(id)
            })
          )
        )
        const later = Stream.fromSchedule(Schedule.spaced(interval)).pipe(
          Stream.filter((round) => hasChanged || (round + 1) % roundsBetweenRefreshes === 0),
          Stream.mapEffect(() => {
            hasChanged = false
            return current(id)
          })
        )
        return Stream.concat(Stream.fromEffect(current(id)), later)
      })
    )

  return {
    /**
     * Takes what an agent collected; it is stored within 5 s. Values and errors that are too long are cut. Fails with `Invalid` after
     * the first keys that fit, when all of them together are too long. agents-and-apps.md §8.
     */
    report: Effect.fn("MetadataReports.report")(function* (
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

    /**
     * An agent's metadata now, whenever some of it changed, at most every second, and every 5 s in any case. Fails with `NotFound` for
     * who may not read the workspace.
     */
    watch: Effect.fn("MetadataReports.watch")(function* (id: WorkspaceAgentId) {
      const [right] = yield* readers.rightToRead(id)
      return { right, values: watched(id) } satisfies Entitled<ReadonlyArray<MetadataView>, never, EventBus>
    })
  }
})

/** What agents collect of their workspaces. */
export class MetadataReports extends Context.Tag("@atelier/core/MetadataReports")<MetadataReports, Effect.Effect.Success<typeof make>>() {
  static readonly layer = Layer.scoped(MetadataReports, make)
}
