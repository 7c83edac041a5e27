/** Starts of workspaces: from images and volumes to agents that have connected. */
import type { EngineTiming } from "@atelier/core/provisioning"
import type { ContainerSpec } from "@atelier/provisioner/container"
import type Docker from "dockerode"
import { Effect } from "effect"
import { makeAgentConnections } from "./AgentConnection.js"
import { makeAgentPreparation, type PreparedAgent } from "./AgentPreparation.js"
import { type Attempt, makeAttempt, type StartInput, type StartOptions, timedInto, undo, type WantedAgent } from "./Attempt.js"
import { sidecarContainer } from "./ContainerSettings.js"
import { DaemonError, type DockerDaemon } from "./DockerDaemon.js"
import type { Images, PresentImage, Say } from "./Images.js"
import type { ImageUsers } from "./ImageUsers.js"
import { labels, sidecarName } from "./Labels.js"
import type { Networks } from "./Networks.js"
import type { RuntimeVolume } from "./RuntimeVolume.js"
import type { FoundContainer, WorkspaceContainers } from "./WorkspaceContainers.js"
import type { FoundVolume, WorkspaceVolumes } from "./WorkspaceVolumes.js"

/** Containers that are prepared at once. */
const concurrency = 4

/** An agent that runs. */
export interface StartedAgent {
  readonly name: string
  readonly container: string
  readonly image: PresentImage
  readonly network: string
  /** In the network of the daemon; empty where the container uses the machine's own. */
  readonly address: string
}

export interface Started {
  readonly agents: ReadonlyArray<StartedAgent>
  readonly timings: ReadonlyArray<EngineTiming>
}

/** What the daemon has of a workspace before its start. */
export interface Before {
  readonly containers: ReadonlyArray<FoundContainer>
  readonly volumes: ReadonlyArray<FoundVolume>
}

interface Needs {
  readonly daemon: DockerDaemon
  readonly containers: WorkspaceContainers
  readonly volumes: WorkspaceVolumes
  readonly images: Images
  readonly users: ImageUsers
  readonly runtime: RuntimeVolume
  readonly networks: Networks
  readonly options: StartOptions
}

/** Some packages of Docker lack the init, and the daemon says so only when a container is started. */
const lacksInit = ({ message }: DaemonError): boolean => message.includes("docker-init")

/** The daemon names neither the field nor what is missing. */
const lacksGpus = ({ message }: DaemonError): boolean => message.includes("could not select device driver")

const noGpus = new DaemonError({
  message: "gpus: the Docker daemon has no driver for them. Its operator installs one, such as the NVIDIA Container Toolkit."
})

export const makeStarts = (needs: Needs) => {
  const { containers, daemon, images, options } = needs
  const { deployment, pids } = options
  const { connected } = makeAgentConnections(daemon, containers)
  const { prepare, volume } = makeAgentPreparation(needs)

  /** Makes the container of an agent, and starts it. Returns its id. */
  const run = ({ say, timed }: Attempt, { files, name, settings }: PreparedAgent): Effect.Effect<string, DaemonError> => {
    const begun = (made: Docker.ContainerCreateOptions): Effect.Effect<string, DaemonError> =>
      Effect.gen(function* () {
        const id = yield* timed("create", name, containers.create(name, made))
        yield* containers.write(id, "/", files)
        yield* timed("start", name, containers.start(id))
        return id
      })
    return begun(settings).pipe(
      Effect.catchIf(lacksGpus, () => noGpus),
      Effect.catchIf(lacksInit, () =>
        say("The Docker daemon has no init: processes that programs leave behind are not collected.").pipe(
          Effect.zipRight(containers.remove(name)),
          Effect.zipRight(begun({ ...settings, HostConfig: { ...settings.HostConfig, Init: false } }))
        )
      )
    )
  }

  const runSidecars = (attempt: Attempt, spec: ContainerSpec, beside: string): Effect.Effect<void, DaemonError> =>
    Effect.forEach(
      spec.sidecars,
      (sidecar) =>
        Effect.gen(function* () {
          const image = yield* images.pulled(sidecar.image, attempt.say)
          const mounts = yield* Effect.forEach(sidecar.volumes, (one) =>
            Effect.map(volume(attempt, spec.agent, one), (name) => ({ volume: name, path: one.path }))
          )
          const id = yield* containers.create(
            sidecarName(attempt.input.workspace_id, spec.agent, sidecar.name),
            sidecarContainer({
              spec: sidecar,
              image: image.id,
              beside,
              mounts,
              labels: attempt.labelsOf(spec.agent, "sidecar"),
              pids
            })
          )
          yield* containers.start(id)
          yield* attempt.say(`The sidecar ${sidecar.name} has been started.`)
        }),
      { discard: true }
    )

  const startAgent = (attempt: Attempt, wanted: WantedAgent): Effect.Effect<StartedAgent, DaemonError> =>
    Effect.gen(function* () {
      const { say, timed } = attempt
      const { agent } = wanted.spec
      const prepared = yield* prepare(attempt, wanted)
      const { image, name, network, spec } = prepared
      const id = yield* run(attempt, prepared)
      yield* say(`The container of the agent ${agent} has been started.`)
      const connecting = Effect.all([connected(id, agent, say), runSidecars(attempt, spec, id)], { concurrency: "unbounded" })
      const [info] = yield* Effect.all([containers.inspect(id), timed("connect", name, connecting)], { concurrency: "unbounded" })
      const addresses = Object.values(info?.NetworkSettings.Networks ?? {}).flatMap(({ IPAddress }) => (IPAddress ? [IPAddress] : []))
      return { name: agent, container: name, image, network: network.mode, address: addresses[0] ?? "" }
    })

  /** Ends what runs of the workspace, and starts its agents. Failed or interrupted, it leaves the workspace stopped, with the files that it had before. */
  const start = (input: StartInput, before: Before, say: Say): Effect.Effect<Started, DaemonError> =>
    Effect.gen(function* () {
      const timings: Array<EngineTiming> = []
      // A start that is repeated after a crash may have given its users a workspace already
      const isOfBuild = ({ labels: found }: Pick<FoundVolume, "labels">) => found[labels.build] === input.workspace_build_id
      const hasRun = before.containers.some((container) => isOfBuild(container) && container.hasStarted)
      // Volumes of a start that was killed before they were used have their first owner and nothing in them
      const known = new Set(before.volumes.filter((volume) => hasRun || !isOfBuild(volume)).map(({ name }) => name))
      if (before.containers.length > 0)
        yield* timedInto(timings)("stop", "containers", containers.endAll(before.containers, options.stopGrace))
      const attempt = makeAttempt(input, { containers, known, say, timings })
      const agents = yield* Effect.forEach(input.agents, (wanted) => startAgent(attempt, wanted), { concurrency }).pipe(
        Effect.onError(() => undo(attempt, needs, !hasRun))
      )
      return { agents, timings }
    }).pipe(Effect.annotateLogs({ workspace_id: input.workspace_id, deployment }))

  return { start }
}

export type Starts = ReturnType<typeof makeStarts>
