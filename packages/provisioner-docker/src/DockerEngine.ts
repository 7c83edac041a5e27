/** The sessions of the engine of Docker. */
import type { Ids } from "@atelier/core/platform"
import { type Engine, ProvisionFailure, type ResourceMetadata } from "@atelier/core/provisioning"
import {
  containerEvaluations,
  type ContainerSpec,
  type ContainerState,
  decodeContainerState,
  encodeContainerState,
  excesses,
  mebibytes,
  openTemplates,
  type OperatorLimits,
  type TemplateActionFailure,
  type TemplateEngine,
  withDefaults
} from "@atelier/provisioner/container"
import { Effect, type Scope } from "effect"
import type { DockerWorkspaces } from "./DockerWorkspaces.js"
import { expectedOf } from "./Recovery.js"
import type { StartedAgent } from "./WorkspaceStart.js"

const resourceType = "docker_container"

const engineName = "docker"

const architectures: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64", arm: "armv7" }

interface Needs {
  readonly workspaces: DockerWorkspaces
  /** Of what goes on behind an answer. */
  readonly scope: Scope.Scope
  readonly deployment: string
  readonly ids: Ids["Type"]
  readonly allowPrivileged: boolean
  /** What templates may name in place of the daemon's default. */
  readonly runtimes: ReadonlyArray<string>
  readonly limits: OperatorLimits
}

/** What the operator does not allow of a container, each as a sentence. */
const refusals = ({ allowPrivileged, limits, runtimes }: Needs, spec: ContainerSpec): ReadonlyArray<string> =>
  [
    // An expression may say so of itself alone when the workspace is built
    ...(spec.privileged && !allowPrivileged ? ["privileged: the operator does not allow it (the option allowPrivileged)"] : []),
    ...(spec.runtime === undefined || runtimes.includes(spec.runtime)
      ? []
      : [`runtime: the operator does not allow ${spec.runtime} (the option runtimes)`]),
    ...excesses(limits, spec)
  ].map((reason) => `the container of the agent ${spec.agent}: ${reason}`)

/** What the page of a workspace shows of its containers. Of several, each item begins with the agent. */
const metadataOf = (agents: ReadonlyArray<StartedAgent>, specs: ReadonlyArray<ContainerSpec>): ReadonlyArray<ResourceMetadata> =>
  agents.flatMap(({ address, container, image, name, network }) => {
    const spec = specs.find(({ agent }) => agent === name)
    const items: ReadonlyArray<readonly [string, string | undefined]> = [
      ["container", container],
      ["image", image.reference],
      ["digest", image.digest ?? image.id],
      ["network", network],
      ["address", address],
      ["cpus", spec?.cpus?.toString()],
      ["memory", spec?.memory === undefined ? undefined : mebibytes(spec.memory)],
      ["disk", spec?.disk === undefined ? undefined : mebibytes(spec.disk)],
      ["gpus", spec?.gpus?.toString()]
    ]
    return items.flatMap(([key, value]) =>
      value === undefined || value === "" ? [] : [{ key: agents.length === 1 ? key : `${name} ${key}`, value, sensitive: false }]
    )
  })

const engineOf = (needs: Needs): TemplateEngine<ContainerState> => {
  const { allowPrivileged, deployment, ids, limits, scope, workspaces } = needs
  const evaluate = containerEvaluations({
    ids,
    resourceType,
    platform: { os: "linux", arch: architectures[process.arch] ?? process.arch }
  })
  const stopped = (metadata: Pick<ContainerState, "workspace_id" | "workspace_build_id" | "access_url">): ContainerState => ({
    version: 1,
    engine: engineName,
    deployment,
    workspace_id: metadata.workspace_id,
    workspace_build_id: metadata.workspace_build_id,
    access_url: metadata.access_url,
    port: 0,
    agents: []
  })
  const failure =
    (state?: ContainerState) =>
    ({ message }: { readonly message: string }): TemplateActionFailure<ContainerState> => ({ message, state })

  return {
    rules: { engine: engineName, containers: { allowPrivileged } },
    resourceType,
    decode: decodeContainerState(engineName, deployment),
    encode: encodeContainerState,
    evaluated: (template, input, port) =>
      Effect.flatMap(evaluate(template, input, port), (evaluation) => {
        const refused = evaluation.containers.flatMap((spec) => refusals(needs, spec))
        return refused.length > 0
          ? new ProvisionFailure({ message: refused.join("\n") })
          : Effect.succeed({ ...evaluation, containers: evaluation.containers.map((spec) => withDefaults(limits, spec)) })
      }),
    portFor: (workspaceId) => Effect.mapError(workspaces.portFor(workspaceId), failure()),
    start: ({ agents, evaluation: { containers, files, port }, metadata, source }, _, report) => {
      const wanted = containers.flatMap((spec) => agents.filter(({ name }) => name === spec.agent).map(({ token }) => ({ spec, token })))
      const { access_url, owner_id, workspace_build_id, workspace_id } = metadata
      return workspaces.start({ workspace_id, workspace_build_id, owner_id, access_url, port, agents: wanted, files, source }, report).pipe(
        Effect.map(({ agents: started, timings }) => ({
          state: {
            ...stopped(metadata),
            port,
            agents: agents.flatMap(({ name, token }) => {
              const image = started.find((agent) => agent.name === name)?.image
              return image === undefined ? [] : [{ name, token, image: image.reference, digest: image.digest }]
            })
          },
          metadata: metadataOf(started, containers),
          timings
        })),
        // It has ended what ran before, so the workspace is stopped
        Effect.mapError(failure(stopped(metadata)))
      )
    },
    stop: (metadata, _, report) =>
      Effect.mapBoth(workspaces.stop(metadata.workspace_id, report), { onSuccess: () => stopped(metadata), onFailure: failure() }),
    remove: (workspaceId, previous, report, unfinished) =>
      Effect.mapError(workspaces.remove(workspaceId, previous === undefined && unfinished !== true, report), failure()),
    runs: (state) => Effect.orElseSucceed(workspaces.runs(expectedOf(state)), () => false),
    // The daemon starts a program of its own for each file, and the claim need not wait for it: the agent has its token already
    adopt: (before, state) =>
      workspaces.adopt(expectedOf(before), state.agents).pipe(
        Effect.catchAll(({ message }) => Effect.logError(message)),
        Effect.uninterruptible,
        Effect.forkIn(scope),
        Effect.asVoid
      )
  }
}

/** How sources of `template.yaml` are opened, whose workspaces are containers of the daemon. */
export const open = (needs: Needs): Engine["open"] => openTemplates(engineOf(needs))
