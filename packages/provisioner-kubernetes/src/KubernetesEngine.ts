/** How sources of `template.yaml` are opened for Pods, and what is done with their workspaces. */
import type { Ids } from "@atelier/core/platform"
import { type Engine, ProvisionFailure, type ResourceMetadata } from "@atelier/core/provisioning"
import {
  agentCommand,
  agentDirectory,
  agentEnvironment,
  archiveOf,
  awaitAgent,
  containerEvaluations,
  openTemplates,
  reasonOf,
  runtimeDirectory,
  type TemplateEngine
} from "@atelier/provisioner/container"
import { Effect, Either } from "effect"
import { type Cluster, type Clusters, makeCluster } from "./Cluster.js"
import { agentLimits, mebibytes } from "./render/Limits.js"
import { agentObject } from "./render/Names.js"
import type { RuntimePlace } from "./render/Pod.js"
import { refusals } from "./render/User.js"
import { type Options, type Settings, settingsOf } from "./Settings.js"
import { WorkspaceFailure } from "./workspaces/WorkspaceFailure.js"
import type { AwaitAgent, StartedAgent } from "./workspaces/Workspaces.js"
import { decodeState, encodeState, type WorkspaceState } from "./WorkspaceState.js"

const resourceType = "kubernetes_pod"

const architectures: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64", arm: "armv7" }

const runtime: RuntimePlace = {
  directory: runtimeDirectory,
  secrets: agentDirectory,
  node: [`${runtimeDirectory}/lib/ld.so`, "--library-path", `${runtimeDirectory}/lib`, `${runtimeDirectory}/bin/node`],
  agent: agentCommand
}

const untilReached: AwaitAgent = (output, agent) =>
  awaitAgent(output).pipe(
    // The output begins anew, so nothing of it is missed
    Effect.retry({ times: 3 }),
    Effect.mapError(({ message }) => new WorkspaceFailure({ message })),
    Effect.flatMap((report) => {
      const reason = reasonOf(report, agent)
      return reason === undefined ? Effect.void : new WorkspaceFailure({ message: reason })
    })
  )

/** The cluster of an engine. */
export const makeEngineCluster = (options: Options) => makeCluster({ options, runtime, awaitAgent: untilReached })

const hasState = (bytes: Uint8Array): WorkspaceState | undefined => Either.getOrUndefined(decodeState(bytes))

/** What a running workspace has in the cluster, by its state; undefined for a state of another engine. */
export const runningOf = (bytes: Uint8Array): { readonly state: WorkspaceState; readonly pods: ReadonlyArray<string> } | undefined => {
  const state = hasState(bytes)
  return state === undefined ? undefined : { state, pods: state.agents.map(({ name }) => agentObject(state.workspace_id, name)) }
}

/** What the page of a workspace shows of an agent's Pod. */
const metadataOf = (settings: Settings, { name, pod, spec }: StartedAgent, isOnly: boolean): ReadonlyArray<ResourceMetadata> => {
  const { cpus, disk, gpus, memory } = agentLimits(settings, spec)
  const agent = pod.status?.containerStatuses?.find((container) => container.name === "agent")
  const items = {
    pod: `${settings.namespace}/${pod.metadata.name}`,
    node: pod.spec?.nodeName,
    address: pod.status?.podIP,
    image: agent?.image,
    digest: /sha256:[0-9a-f]{64}/.exec(agent?.imageID ?? "")?.[0],
    cpus: cpus?.toString(),
    memory: memory === undefined ? undefined : mebibytes(memory),
    disk: disk === undefined ? undefined : mebibytes(disk),
    gpus: gpus ? String(gpus) : undefined
  }
  return Object.entries(items).flatMap(([key, value]) => (value ? [{ key: isOnly ? key : `${name} ${key}`, value, sensitive: false }] : []))
}

interface Needs {
  readonly clusters: Clusters
  readonly ids: Ids["Type"]
  readonly options: Options
  /** The first word of the agents' variables. */
  readonly prefix: string
}

/** How sources are opened by an engine with these options. */
export const open = ({ clusters, ids, options, prefix }: Needs): Engine["open"] => {
  const evaluate = containerEvaluations({ ids, resourceType, platform: { os: "linux", arch: architectures[process.arch] ?? process.arch } })
  const settings = settingsOf(options, undefined)

  const failed = ({ message }: { readonly message: string }) => ({ message })

  const clusterIn = (namespace: string | undefined) => Effect.mapError(clusters.in(namespace), failed)

  /** The cluster with the namespace of a workspace's organization, or where the workspace is already. It must be one that the engine works in now. */
  const clusterOf = (previous: WorkspaceState | undefined, organization?: string): Effect.Effect<Cluster, { readonly message: string }> => {
    const ofOrganization = organization === undefined ? undefined : options.namespaces?.[organization]
    if (previous === undefined) return clusterIn(ofOrganization ?? options.namespace)
    const named = clusters.namespaces.includes(previous.namespace) ? previous.namespace : options.namespace
    return Effect.flatMap(clusterIn(named), (cluster) => {
      const { deployment, namespace } = cluster.settings
      if (previous.namespace === namespace && previous.deployment === deployment) return Effect.succeed(cluster)
      const where = `the namespace ${previous.namespace} of the deployment ${previous.deployment}`
      return Effect.fail({ message: `the workspace is in ${where}, and the engine works in ${namespace} of ${deployment}` })
    })
  }

  /** Nothing says in which namespace a workspace without a state has left something. */
  const clustersOf = (previous: WorkspaceState | undefined) =>
    previous === undefined
      ? Effect.forEach(clusters.namespaces, clusterIn)
      : Effect.map(clusterOf(previous), (cluster): ReadonlyArray<Cluster> => [cluster])

  const engine: TemplateEngine<WorkspaceState> = {
    rules: { engine: "kubernetes", containers: { allowPrivileged: options.allowPrivileged ?? false } },
    resourceType,
    decode: decodeState,
    encode: encodeState,
    evaluated: (template, input) =>
      Effect.filterOrElse(
        evaluate(template, input),
        ({ containers }) => containers.every((spec) => refusals(settings, spec).length === 0),
        ({ containers }) => new ProvisionFailure({ message: containers.flatMap((spec) => refusals(settings, spec)).join("\n") })
      ),
    start: ({ agents, evaluation, metadata }, previous, report) =>
      Effect.gen(function* () {
        const { access_url, organization_id, workspace_build_id, workspace_id } = metadata
        const { settings: own, workspaces } = yield* clusterOf(previous, organization_id)
        const url = options.agentUrl ?? access_url
        const hasFiles = evaluation.files.length > 0
        const environment = agentEnvironment(prefix, { url, hasFiles })
        const files = hasFiles ? yield* archiveOf(evaluation.files) : undefined
        const starts = agents.flatMap(({ name, token }) => {
          const spec = evaluation.containers.find(({ agent }) => agent === name)
          return spec === undefined ? [] : [{ spec, token, environment }]
        })
        const { agents: started, timings } = yield* Effect.mapError(workspaces.start({ metadata, agents: starts, files }, report), failed)
        return {
          state: {
            version: 1,
            engine: "kubernetes",
            deployment: own.deployment,
            namespace: own.namespace,
            workspace_id,
            workspace_build_id,
            access_url,
            port: evaluation.port,
            agents: agents.map(({ name, token }) => ({ name, token }))
          },
          metadata: started.flatMap((one) => metadataOf(own, one, started.length === 1)),
          timings
        }
      }),
    stop: ({ access_url, organization_id, workspace_build_id, workspace_id }, previous, report) =>
      Effect.gen(function* () {
        const { settings: own, workspaces } = yield* clusterOf(previous, organization_id)
        yield* Effect.mapError(workspaces.stop(workspace_id, report), failed)
        const { deployment, namespace } = own
        const stopped = { version: 1, engine: "kubernetes", deployment, namespace, workspace_id, workspace_build_id, access_url } as const
        return { ...stopped, agents: [] }
      }),
    remove: (workspaceId, previous, report, unfinished) =>
      Effect.flatMap(clustersOf(previous), (found) =>
        Effect.forEach(
          found,
          ({ workspaces }) =>
            Effect.mapError(workspaces.remove(workspaceId, previous !== undefined || unfinished === true, report), failed),
          { discard: true }
        )
      ),
    runs: (state) =>
      clusterOf(state).pipe(
        Effect.flatMap(({ workspaces }) =>
          workspaces.runs(
            state.workspace_id,
            state.workspace_build_id,
            state.agents.map(({ name }) => name)
          )
        ),
        Effect.catchAll(({ message }) => Effect.as(Effect.logWarning(message), false))
      ),
    adopt: (before, state) =>
      Effect.flatMap(clusterOf(before), ({ workspaces }) => Effect.mapError(workspaces.adopt(state, state.agents), failed))
  }
  return openTemplates(engine)
}
