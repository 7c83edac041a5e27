/** Workspaces as objects of one namespace: started, stopped and deleted. Every step finds what an earlier one left, by labels and names. */
import type { Uuid } from "@atelier/core/platform"
import type { BuildMetadata, EngineTiming } from "@atelier/core/provisioning"
import { Clock, Effect, Exit, type Stream } from "effect"
import type { Api } from "../cluster/Api.js"
import type { ClusterError } from "../cluster/ClusterError.js"
import { Any, type Pod, Pod as PodSchema } from "../cluster/Objects.js"
import type { PodWatch } from "../cluster/PodWatch.js"
import { type Manifest, type Resources, selectorOf } from "../cluster/Resources.js"
import type { ContainerSpec } from "@atelier/provisioner/container"
import { agentLabels, agentObject, label, workspaceLabels } from "../render/Names.js"
import { claimsOf, maximumSecret, networkPolicyOf, ownedBy, secretOf } from "../render/Objects.js"
import { podOf, type RuntimePlace } from "../render/Pod.js"
import type { JsonObject } from "../render/StrategicMerge.js"
import { refusals } from "../render/User.js"
import type { Settings } from "../Settings.js"
import { waits } from "./Waits.js"
import { workspaceObjects } from "./WorkspaceObjects.js"
import { type Report, WorkspaceFailure } from "./WorkspaceFailure.js"

/** An agent that a build starts. */
export interface AgentStart {
  readonly spec: ContainerSpec
  readonly token: string
  readonly environment: Readonly<Record<string, string>>
}

export interface WorkspaceStart {
  readonly metadata: BuildMetadata
  readonly agents: ReadonlyArray<AgentStart>
  /** The archive of the template's files; undefined without any. */
  readonly files: Uint8Array | undefined
}

/** An agent whose Pod runs. */
export interface StartedAgent {
  readonly name: string
  readonly spec: ContainerSpec
  readonly pod: Pod
}

export interface Started {
  readonly agents: ReadonlyArray<StartedAgent>
  readonly timings: ReadonlyArray<EngineTiming>
}

/** Notes how long a part of a start took. */
type Timed = <A, E>(action: string, resource: string, work: Effect.Effect<A, E>) => Effect.Effect<A, E>

/** Waits for the line by which an agent says that it is connected. Fails with the reason that it gives, or when it says nothing. */
export type AwaitAgent = (output: Stream.Stream<string, ClusterError>, agent: string) => Effect.Effect<void, WorkspaceFailure>

export interface WorkspacesInput {
  readonly api: Api
  readonly resources: Resources
  readonly watch: PodWatch
  readonly settings: Settings
  readonly runtime: RuntimePlace
  readonly awaitAgent: AwaitAgent
  /** Fails if the account lacks a right that the engine needs. */
  readonly rights: Effect.Effect<void, ClusterError>
}

/** Seconds that the Pods of a start that failed have to end. */
const graceOfFailure = 5

interface AgentInput extends AgentStart {
  readonly metadata: BuildMetadata
  readonly files: Uint8Array | undefined
  readonly report: Report
  readonly timed: Timed
}

const failure = (error: ClusterError | WorkspaceFailure): WorkspaceFailure =>
  error._tag === "WorkspaceFailure" ? error : new WorkspaceFailure({ message: error.message })

const timedInto =
  (timings: Array<EngineTiming>): Timed =>
  (action, resource, work) =>
    Effect.gen(function* () {
      const started_at = yield* Clock.currentTimeMillis
      const result = yield* work
      timings.push({ stage: "apply", source: "kubernetes", action, resource, started_at, ended_at: yield* Clock.currentTimeMillis })
      return result
    })

/** Whether a Pod is that of an agent, runs, and belongs to the build. */
const isRunningBy =
  (name: string, buildId: Uuid.Uuid) =>
  ({ metadata, status }: Pod): boolean =>
    metadata.name === name && metadata.labels?.[label.build] === buildId && !metadata.deletionTimestamp && status?.phase === "Running"

export const makeWorkspaces = (input: WorkspacesInput) => {
  const { awaitAgent, resources, rights, runtime, settings, watch } = input
  const { deployment, namespace } = settings
  const { output, reportTail, untilGone, untilRunning } = waits(input)
  const { claim, create, halt, withLabels } = workspaceObjects({ resources, settings, untilGone })

  const startAgent = ({ environment, files, metadata, report, spec, timed, token }: AgentInput) =>
    Effect.gen(function* () {
      const { workspace_id } = metadata
      const reference = spec.image._tag === "Image" ? spec.image.reference : ""
      const labels = agentLabels(deployment, metadata, spec.agent, "agent")
      const hasFiles = files !== undefined
      const pod = podOf({ settings, spec, runtime, workspaceId: workspace_id, image: reference, labels, environment, hasFiles })
      const secret = yield* Effect.uninterruptible(create("secrets", secretOf({ settings, metadata, spec, token, files, pod }), report))
      const owned = (object: JsonObject) => ownedBy(secret.metadata, object) as Manifest & JsonObject
      const policy = networkPolicyOf(settings, metadata, spec)
      if (policy !== undefined) yield* create("networkpolicies", owned(policy), report)
      const { metadata: made } = yield* create("pods", owned(pod), report)
      yield* report(`Made the Pod ${made.name} in the namespace ${namespace}.`)
      const claims = claimsOf(settings, metadata, spec).map((one) => one.metadata.name)
      const wait = yield* untilRunning({ name: made.name, uid: made.uid, claims, report })
      yield* timed("schedule", made.name, wait.scheduled)
      const running = yield* timed("prepare", made.name, wait.running)
      yield* report(`The Pod runs on the node ${running.spec?.nodeName ?? "?"}; waiting for the agent to connect.`)
      yield* timed(
        "connect",
        made.name,
        awaitAgent(output(made.name), spec.agent).pipe(Effect.tapError(() => reportTail(made.name, "agent", false, report)))
      )
      return { name: spec.agent, spec, pod: running } satisfies StartedAgent
    }).pipe(Effect.scoped)

  /** Deletes what a start that failed or was canceled has made. The volumes of earlier starts stay. */
  const undo = ({ workspace_build_id, workspace_id }: BuildMetadata, withVolumes: boolean, report: Report) =>
    Effect.gen(function* () {
      yield* halt(workspace_id, report, graceOfFailure)
      if (!withVolumes) return
      const labelSelector = selectorOf({ ...workspaceLabels(deployment, workspace_id), [label.build]: workspace_build_id })
      for (const { metadata } of yield* resources.list("persistentvolumeclaims", Any, namespace, { labelSelector }))
        yield* resources.remove("persistentvolumeclaims", namespace, metadata.name, { uid: metadata.uid })
    }).pipe(
      Effect.timeout("2 minutes"),
      Effect.catchAll((error) => Effect.logWarning(`what a failed start has made cannot be deleted: ${error.message}`))
    )

  return {
    /** Starts the agents' Pods, after ending those of earlier builds. Failed or interrupted, it leaves the workspace as it is when it is stopped. */
    start: ({ agents, files, metadata }: WorkspaceStart, report: Report): Effect.Effect<Started, WorkspaceFailure> =>
      Effect.gen(function* () {
        const refused = agents.flatMap(({ spec }) => refusals(settings, spec))
        if (refused.length > 0) return yield* new WorkspaceFailure({ message: refused.join("\n") })
        if (files !== undefined && files.byteLength > maximumSecret)
          return yield* new WorkspaceFailure({ message: `files: are larger than ${maximumSecret} bytes when they are compressed` })
        yield* rights
        const timings: Array<EngineTiming> = []
        const timed = timedInto(timings)
        // A start that is repeated after a crash may have given its users a workspace already
        let hasRun = false
        const started = yield* Effect.gen(function* () {
          yield* watch.hold
          const before = yield* timed("stop", "earlier Pods", halt(metadata.workspace_id, report))
          hasRun = before.some(({ metadata: { labels } }) => labels?.[label.build] === metadata.workspace_build_id)
          yield* timed(
            "claim",
            "volumes",
            Effect.forEach(agents, ({ spec }) => claim(metadata, spec, report), { discard: true })
          )
          return yield* Effect.forEach(agents, (agent) => startAgent({ ...agent, metadata, files, report, timed }), {
            concurrency: "unbounded"
          })
        }).pipe(
          Effect.scoped,
          Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : undo(metadata, !hasRun, report)))
        )
        return { agents: started, timings }
      }).pipe(Effect.mapError(failure)),

    /** Ends the Pods. The volumes stay. Doing it twice is fine. */
    stop: (workspaceId: Uuid.Uuid, report: Report): Effect.Effect<void, WorkspaceFailure> =>
      Effect.mapError(halt(workspaceId, report), failure),

    /** Ends the Pods. Deletes the volumes too, unless the workspace is orphaned, which leaves them to its owner. */
    remove: (workspaceId: Uuid.Uuid, withVolumes: boolean, report: Report): Effect.Effect<void, WorkspaceFailure> =>
      Effect.gen(function* () {
        yield* halt(workspaceId, report)
        if (!withVolumes) return
        const volumes = yield* resources.list("persistentvolumeclaims", Any, namespace, withLabels(workspaceId))
        for (const { metadata } of volumes)
          yield* resources.remove("persistentvolumeclaims", namespace, metadata.name, { uid: metadata.uid })
        if (volumes.length > 0) yield* report(`Deleted the volumes: ${volumes.map(({ metadata }) => metadata.name).join(", ")}.`)
      }).pipe(Effect.mapError(failure)),

    /** Whether the Pod of each agent runs, by the build with this id. */
    runs: (workspaceId: Uuid.Uuid, buildId: Uuid.Uuid, agents: ReadonlyArray<string>): Effect.Effect<boolean, WorkspaceFailure> =>
      resources.list("pods", PodSchema, namespace, withLabels(workspaceId)).pipe(
        Effect.map((pods) => agents.every((agent) => pods.some(isRunningBy(agentObject(workspaceId, agent), buildId)))),
        Effect.mapError(failure)
      ),

    /** Gives the agents new tokens, and what runs the labels of a new build. */
    adopt: (
      { workspace_build_id, workspace_id }: Pick<BuildMetadata, "workspace_build_id" | "workspace_id">,
      agents: ReadonlyArray<{ readonly name: string; readonly token: string }>
    ): Effect.Effect<void, WorkspaceFailure> =>
      Effect.forEach(
        agents,
        ({ name, token }) =>
          Effect.gen(function* () {
            const object = agentObject(workspace_id, name)
            const labels = { metadata: { labels: { [label.build]: workspace_build_id, [label.owner]: null } } }
            yield* resources.patch("secrets", namespace, object, { ...labels, data: { token: Buffer.from(token).toString("base64") } })
            yield* resources.patch("pods", namespace, object, labels)
          }),
        { discard: true }
      ).pipe(Effect.mapError(failure))
  }
}

export type Workspaces = ReturnType<typeof makeWorkspaces>
