/** What the container of an agent needs before it is made: its image, network, user, volumes and runtime. */
import {
  agentCommand,
  agentEnvironment,
  type ContainerSpec,
  homeVolume,
  runtimeDirectory,
  type VolumeSpec
} from "@atelier/provisioner/container"
import type Docker from "dockerode"
import { Effect } from "effect"
import { agentFiles } from "./AgentFiles.js"
import type { Attempt, StartOptions, WantedAgent } from "./Attempt.js"
import { agentContainer } from "./ContainerSettings.js"
import { DaemonError } from "./DockerDaemon.js"
import type { Images, PresentImage } from "./Images.js"
import type { ImageUsers } from "./ImageUsers.js"
import { containerName, labels, volumeName } from "./Labels.js"
import type { Joined, Networks } from "./Networks.js"
import type { RuntimeVolume } from "./RuntimeVolume.js"
import type { WorkspaceVolumes } from "./WorkspaceVolumes.js"

export interface PreparedAgent {
  readonly spec: ContainerSpec
  /** Of the container. */
  readonly name: string
  readonly image: PresentImage
  readonly network: Joined
  readonly settings: Docker.ContainerCreateOptions
  /** An archive for the root of the container. */
  readonly files: Uint8Array
}

interface Needs {
  readonly volumes: WorkspaceVolumes
  readonly images: Images
  readonly users: ImageUsers
  readonly runtime: RuntimeVolume
  readonly networks: Networks
  readonly options: StartOptions
}

/** The limits of the steps of a build are those of its container. */
const limitsOf = ({ cpus, memory }: ContainerSpec): { readonly cpus?: number; readonly memory?: number } => ({
  ...(cpus === undefined ? {} : { cpus }),
  ...(memory === undefined ? {} : { memory })
})

const homeOf = (env: ReadonlyArray<string>): string | undefined =>
  env
    .findLast((variable) => /^HOME=\/[^/]/.test(variable))
    ?.slice("HOME=".length)
    .replace(/\/+$/, "")

export const makeAgentPreparation = ({ images, networks, options, runtime, users, volumes }: Needs) => {
  const { environmentPrefix, pids } = options

  /** Makes a volume of an agent, or finds it. Returns its name at the daemon. */
  const volume = (
    { input: { workspace_id }, labelsOf, say }: Attempt,
    agent: string,
    { keep, name }: Pick<VolumeSpec, "keep" | "name">,
    size?: number
  ): Effect.Effect<string, DaemonError> => {
    const full = volumeName(workspace_id, agent, name)
    const own = { ...labelsOf(agent, "volume"), [labels.volume]: name, [labels.keep]: String(keep) }
    const make = volumes.ensure(full, own, undefined)
    const sized =
      size === undefined
        ? make
        : volumes.ensure(full, own, size).pipe(
            Effect.catchIf(
              ({ message }) => /quota|size/i.test(message),
              () => Effect.zipRight(say(`The Docker daemon cannot limit the size of volumes: ${name} is not limited.`), make)
            )
          )
    return Effect.as(sized, full)
  }

  const networkOf = ({ network }: ContainerSpec, accessUrl: string): Effect.Effect<Joined, DaemonError> =>
    network === "default"
      ? networks.usual(accessUrl)
      : Effect.mapError(
          networks.closed(accessUrl),
          ({ message }) => new DaemonError({ message: `network: none cannot be had at this Docker daemon: ${message}` })
        )

  const imageOf = ({ input, say, timed }: Attempt, spec: ContainerSpec, network: Joined): Effect.Effect<PresentImage, DaemonError> =>
    spec.image._tag === "Build"
      ? timed(
          "build",
          spec.image.dockerfile,
          images.built(spec.image, { source: input.source, network: network.build, ...limitsOf(spec) }, say)
        )
      : timed("pull", spec.image.reference, images.pulled(spec.image.reference, say))

  /** Asks the daemon for all that the container needs. What needs no answer to another question is asked for at once. */
  const prepare = (attempt: Attempt, { spec, token }: WantedAgent): Effect.Effect<PreparedAgent, DaemonError> =>
    Effect.gen(function* () {
      const { access_url, files, port, workspace_id } = attempt.input
      const name = containerName(workspace_id, spec.agent)
      const network = yield* networkOf(spec, access_url)
      const imageOnce = yield* Effect.cached(imageOf(attempt, spec, network))
      const [image, runtimeVolume] = yield* Effect.all(
        [imageOnce, attempt.timed("fill", "runtime", runtime.ensure(Effect.map(imageOnce, ({ id }) => id)))],
        { concurrency: "unbounded" }
      )
      // Volumes come after the pull, which may take long: those that a kill leaves behind look like used ones to the next build
      const [found] = yield* Effect.all(
        [
          users.of(image, spec.user, `${name}.user`, attempt.labelsOf(spec.agent, "agent")),
          Effect.forEach(spec.volumes, (one) => volume(attempt, spec.agent, one, one.name === homeVolume ? spec.disk : undefined))
        ],
        { concurrency: "unbounded" }
      )
      const ofImage = homeOf([...image.env, ...Object.entries(spec.env).map(([key, value]) => `${key}=${value}`)])
      const home = spec.volumes.find((one) => one.name === homeVolume)?.path ?? ofImage ?? found.home
      const mounts = spec.volumes.map(({ name, path = home }) => ({ volume: volumeName(workspace_id, spec.agent, name), path }))
      const settings = agentContainer({
        spec,
        image: image.id,
        user: spec.user ?? image.user,
        command: agentCommand(spec.entrypoint),
        env: {
          ...spec.env,
          HOME: home,
          [`${environmentPrefix}_AGENT_LOG_DIRECTORY`]: home,
          ...agentEnvironment(environmentPrefix, { hasFiles: files.length > 0, url: network.url })
        },
        directory: home,
        network,
        mounts: [...mounts, { volume: runtimeVolume, path: runtimeDirectory, isReadOnly: true }],
        labels: {
          ...attempt.labelsOf(spec.agent, "agent"),
          ...(network.mode === "host" ? { [labels.port]: String(port) } : {})
        },
        pids
      })
      const folders = mounts.flatMap(({ path, volume }) => (attempt.known.has(volume) ? [] : [path]))
      return { spec, name, image, network, settings, files: yield* agentFiles({ token, files, folders }, { ...found, home }) }
    })

  return { prepare, volume }
}

export type AgentPreparation = ReturnType<typeof makeAgentPreparation>
