/** One run of a start: what it is to make, and the mark of what it has made. */
import type { Uuid } from "@atelier/core/platform"
import type { EngineTiming } from "@atelier/core/provisioning"
import type { ContainerSpec, PlacedFile } from "@atelier/provisioner/container"
import type { ArchiveFile } from "@atelier/provisioner/engine"
import { Clock, Duration, Effect } from "effect"
import { randomUUID } from "node:crypto"
import type { Say } from "./Images.js"
import { type Labels, labels } from "./Labels.js"
import type { WorkspaceContainers } from "./WorkspaceContainers.js"
import type { WorkspaceVolumes } from "./WorkspaceVolumes.js"

/** Containers and volumes that are prepared at once. */
const concurrency = 4

export interface StartOptions {
  readonly deployment: string
  /** The first word of the variables that agents are given. */
  readonly environmentPrefix: string
  /** Processes and threads that a container may have. */
  readonly pids: number
  readonly stopGrace: Duration.Duration
}

/** An agent of a start. */
export interface WantedAgent {
  readonly spec: ContainerSpec
  readonly token: string
}

export interface StartInput {
  readonly workspace_id: Uuid.Uuid
  readonly workspace_build_id: Uuid.Uuid
  readonly owner_id: Uuid.Uuid
  readonly access_url: string
  /** The port that the template was given. */
  readonly port: number
  readonly agents: ReadonlyArray<WantedAgent>
  readonly files: ReadonlyArray<PlacedFile>
  /** The files of the template: images are built from them. */
  readonly source: ReadonlyMap<string, ArchiveFile>
}

/** Notes how long a part of a start took. */
export type Timed = <A, E>(action: string, resource: string, work: Effect.Effect<A, E>) => Effect.Effect<A, E>

export interface Attempt {
  readonly input: StartInput
  readonly say: Say
  readonly timed: Timed
  /** The names of the volumes that containers of the workspace have had before. */
  readonly known: ReadonlySet<string>
  /** What the label `attempt` of its containers says. */
  readonly mark: string
  readonly labelsOf: (agent: string, part: "agent" | "sidecar" | "volume") => Labels
}

/** Begins an attempt. Its timings come into `timings`. */
export const makeAttempt = (
  input: StartInput,
  {
    containers,
    known,
    say,
    timings
  }: {
    readonly containers: Pick<WorkspaceContainers, "ofWorkspace">
    readonly known: ReadonlySet<string>
    readonly say: Say
    readonly timings: Array<EngineTiming>
  }
): Attempt => {
  const mark = randomUUID()
  return {
    input,
    say,
    known,
    mark,
    timed: timedInto(timings),
    labelsOf: (agent, part) => ({
      ...containers.ofWorkspace(input.workspace_id),
      [labels.build]: input.workspace_build_id,
      [labels.owner]: input.owner_id,
      [labels.agent]: agent,
      [labels.part]: part,
      ...(part === "volume" ? {} : { [labels.attempt]: mark })
    })
  }
}

export const timedInto =
  (timings: Array<EngineTiming>): Timed =>
  (action, resource, work) =>
    Effect.gen(function* () {
      const started_at = yield* Clock.currentTimeMillis
      const result = yield* work
      timings.push({ stage: "apply", source: "docker", action, resource, started_at, ended_at: yield* Clock.currentTimeMillis })
      return result
    })

/** Removes what an attempt has made; volumes only where nothing has run with them. */
export const undo = (
  { input: { workspace_build_id, workspace_id }, mark }: Attempt,
  { containers, volumes }: { readonly containers: WorkspaceContainers; readonly volumes: WorkspaceVolumes },
  isFirst: boolean
): Effect.Effect<void> =>
  Effect.gen(function* () {
    yield* containers.endAll(yield* containers.list({ ...containers.ours, [labels.attempt]: mark }), Duration.zero)
    if (!isFirst) return
    const own = containers.ofWorkspace(workspace_id)
    const made = yield* volumes.list({ ...own, [labels.build]: workspace_build_id })
    const ports = yield* volumes.list({ ...own, [labels.part]: "port" })
    yield* Effect.forEach([...made, ...ports], (one) => volumes.remove(one.name), { concurrency, discard: true })
  }).pipe(Effect.ignoreLogged)
