/** Starts of workspaces: from images and volumes to agents that have connected. */
import type { Uuid } from "@atelier/core/platform"
import type { EngineTiming } from "@atelier/core/provisioning"
import {
  agentCommand,
  agentDirectory,
  agentEnvironment,
  archiveOf,
  awaitAgent,
  type ContainerSpec,
  filesArchive,
  homeVolume,
  type PlacedFile,
  reasonOf,
  runtimeDirectory,
  tokenFile
} from "@atelier/provisioner/container"
import type { ArchiveFile } from "@atelier/provisioner/engine"
import { Chunk, Clock, Duration, Effect, Stream } from "effect"
import { randomUUID } from "node:crypto"
import { Readable } from "node:stream"
import { agentContainer, type Mount, sidecarContainer } from "./ContainerSettings.js"
import { DaemonError, type DockerDaemon } from "./DockerDaemon.js"
import type { Images, PresentImage, Say } from "./Images.js"
import type { ImageUser, ImageUsers } from "./ImageUsers.js"
import { containerName, type Labels, labels, sidecarName, volumeName } from "./Labels.js"
import { outputOf, shortened } from "./Lines.js"
import type { Joined, Networks } from "./Networks.js"
import type { RuntimeVolume } from "./RuntimeVolume.js"
import { tarOf, type TarFile } from "./Tar.js"
import type { FoundContainer, WorkspaceContainers } from "./WorkspaceContainers.js"

/** How long an agent has to reach the service: a build that fails for this reason takes half a minute at most. */
const connectLimit = Duration.seconds(25)

/** Lines of a container's log that a build shows if its agent does not connect. */
const shownLines = 100

/** Containers that are prepared at once. */
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

interface Needs {
  readonly daemon: DockerDaemon
  readonly containers: WorkspaceContainers
  readonly images: Images
  readonly users: ImageUsers
  readonly runtime: RuntimeVolume
  readonly networks: Networks
  readonly options: StartOptions
}

/** The token of an agent as an archive for the root of its container. */
export const tokenEntries = (token: string, { gid, uid }: Pick<ImageUser, "gid" | "uid">): ReadonlyArray<TarFile> => [
  { path: `${agentDirectory.slice(1)}/`, bytes: new Uint8Array(0), mode: 0o700, uid, gid },
  { path: tokenFile.slice(1), bytes: new TextEncoder().encode(token), mode: 0o400, uid, gid }
]

/** The limits of the steps of a build are those of its container. */
const limitsOf = ({ cpus, memory }: ContainerSpec): { readonly cpus?: number; readonly memory?: number } => ({
  ...(cpus === undefined ? {} : { cpus }),
  ...(memory === undefined ? {} : { memory })
})

/** Some packages of Docker lack the init, and the daemon says so only when a container is started. */
const lacksInit = ({ message }: DaemonError): boolean => message.includes("docker-init")

/** The daemon names neither the field nor what is missing. */
const lacksGpus = ({ message }: DaemonError): boolean => message.includes("could not select device driver")

const noGpus = new DaemonError({
  message: "gpus: the Docker daemon has no driver for them. Its operator installs one, such as the NVIDIA Container Toolkit."
})

const homeOf = (env: ReadonlyArray<string>): string | undefined =>
  env
    .findLast((variable) => /^HOME=\/[^/]/.test(variable))
    ?.slice("HOME=".length)
    .replace(/\/+$/, "")

export const makeStarts = ({ containers, daemon, images, networks, options, runtime, users }: Needs) => {
  const { deployment, environmentPrefix, pids } = options

  /** The end of a container's log. */
  const lastLines = (container: string): Effect.Effect<ReadonlyArray<string>> =>
    daemon
      .call("the log cannot be read", (docker, abortSignal) =>
        docker.getContainer(container).logs({ follow: false, stdout: true, stderr: true, tail: shownLines, abortSignal })
      )
      .pipe(
        Effect.flatMap((log) => Stream.runCollect(Stream.takeRight(outputOf(Readable.from([log])), shownLines))),
        Effect.map(Chunk.toReadonlyArray),
        Effect.catchAll(() => Effect.succeed([]))
      )

  /** Says the end of a container's log, and fails. */
  const notConnected = (container: string, reason: string, say: Say) =>
    Effect.gen(function* () {
      const lines = yield* lastLines(container)
      yield* say(lines.length === 0 ? "The container has written nothing." : `The last lines of the container:`)
      for (const line of lines) yield* say(shortened(line))
      return yield* new DaemonError({ message: reason })
    })

  /** Waits until the agent has reached the service. */
  const connected = (container: string, agent: string, say: Say): Effect.Effect<void, DaemonError> =>
    Effect.gen(function* () {
      const report = yield* Effect.scoped(
        Effect.flatMap(
          daemon.stream("the log cannot be read", (docker, abortSignal) =>
            docker.getContainer(container).logs({ follow: true, stdout: true, stderr: true, abortSignal })
          ),
          (log) => awaitAgent(outputOf(log), connectLimit)
        )
      )
      const reason = reasonOf(report, agent)
      if (reason === undefined) return
      const state = report._tag === "Ended" ? (yield* containers.inspect(container))?.State : undefined
      const isTooLarge = state?.OOMKilled === true
      return yield* notConnected(container, isTooLarge ? `${reason} It needs more memory than it may have.` : reason, say)
    })

  /** One start: what it makes carries its mark. */
  const attempt = (
    input: StartInput,
    say: Say,
    timed: <A, E>(action: string, resource: string, work: Effect.Effect<A, E>) => Effect.Effect<A, E>
  ) => {
    const { access_url, owner_id, workspace_build_id, workspace_id } = input
    const mark = randomUUID()
    const labelsOf = (agent: string, part: "agent" | "sidecar" | "volume"): Labels => ({
      ...containers.ofWorkspace(workspace_id),
      [labels.build]: workspace_build_id,
      [labels.owner]: owner_id,
      [labels.agent]: agent,
      [labels.part]: part,
      ...(part === "volume" ? {} : { [labels.attempt]: mark })
    })

    const volume = (
      agent: string,
      { keep, name, path }: { readonly name: string; readonly path: string; readonly keep: boolean },
      size?: number
    ) => {
      const full = volumeName(workspace_id, agent, name)
      const own = { ...labelsOf(agent, "volume"), [labels.volume]: name, [labels.keep]: String(keep) }
      const make = containers.ensureVolume(full, own, undefined)
      const sized =
        size === undefined
          ? make
          : containers.ensureVolume(full, own, size).pipe(
              Effect.catchIf(
                ({ message }) => /quota|size/i.test(message),
                () => Effect.zipRight(say(`The Docker daemon cannot limit the size of volumes: ${name} is not limited.`), make)
              )
            )
      return Effect.as(sized, { volume: full, path } satisfies Mount)
    }

    const networkOf = (spec: ContainerSpec): Effect.Effect<Joined, DaemonError> =>
      spec.network === "default"
        ? networks.usual(access_url)
        : Effect.mapError(
            networks.closed(access_url),
            ({ message }) => new DaemonError({ message: `network: none cannot be had at this Docker daemon: ${message}` })
          )

    const sidecars = (spec: ContainerSpec, beside: string) =>
      Effect.forEach(
        spec.sidecars,
        (sidecar) =>
          Effect.gen(function* () {
            const image = yield* images.pulled(sidecar.image, say)
            const mounts = yield* Effect.forEach(sidecar.volumes, (one) => volume(spec.agent, one))
            const name = sidecarName(workspace_id, spec.agent, sidecar.name)
            const id = yield* containers.create(
              name,
              sidecarContainer({ spec: sidecar, image: image.id, beside, mounts, labels: labelsOf(spec.agent, "sidecar"), pids })
            )
            yield* containers.start(id)
            yield* say(`The sidecar ${sidecar.name} has been started.`)
          }),
        { discard: true }
      )

    const started = ({ spec, token }: WantedAgent, known: ReadonlySet<string>) =>
      Effect.gen(function* () {
        const name = containerName(workspace_id, spec.agent)
        const network = yield* networkOf(spec)
        const image = yield* timed(
          spec.image._tag === "Build" ? "build" : "pull",
          spec.image._tag === "Build" ? spec.image.dockerfile : spec.image.reference,
          spec.image._tag === "Build"
            ? images.built(spec.image, { source: input.source, network: network.build, ...limitsOf(spec) }, say)
            : images.pulled(spec.image.reference, say)
        )
        const found = yield* users.of(image, spec.user, `${name}.user`, labelsOf(spec.agent, "agent"))
        const imageHome = homeOf([...image.env, ...Object.entries(spec.env).map(([key, value]) => `${key}=${value}`)])
        const home = spec.volumes.find((one) => one.name === homeVolume)?.path ?? imageHome ?? found.home
        const user: ImageUser = { ...found, home }
        const [mounts, runtimeVolume] = yield* Effect.all(
          [
            Effect.forEach(spec.volumes, (one) =>
              volume(spec.agent, { ...one, path: one.path ?? home }, one.name === homeVolume ? spec.disk : undefined)
            ),
            timed("fill", "runtime", runtime.ensure(image.id))
          ],
          { concurrency: "unbounded" }
        )
        const settings = agentContainer({
          spec,
          image: image.id,
          user: spec.user ?? image.user,
          command: agentCommand(spec.entrypoint),
          env: {
            ...spec.env,
            HOME: home,
            [`${environmentPrefix}_AGENT_LOG_DIRECTORY`]: home,
            ...agentEnvironment(environmentPrefix, { hasFiles: input.files.length > 0, url: network.url })
          },
          directory: home,
          network,
          mounts: [...mounts, { volume: runtimeVolume, path: runtimeDirectory, isReadOnly: true }],
          labels: { ...labelsOf(spec.agent, "agent"), ...(network.mode === "host" ? { [labels.port]: String(input.port) } : {}) },
          pids
        })
        // Docker gives a new volume the owner of its place in the image, and that is root where the image has no such place
        const owned = user.uid === 0 ? [] : mounts.filter(({ volume }) => !known.has(volume))
        const files =
          input.files.length === 0
            ? []
            : [{ path: filesArchive.slice(1), bytes: yield* archiveOf(input.files), mode: 0o400, uid: user.uid, gid: user.gid }]
        const own = yield* tarOf([
          ...owned.map(({ path }) => ({
            path: `${path.slice(1)}/`,
            bytes: new Uint8Array(0),
            mode: 0o755,
            uid: user.uid,
            gid: user.gid
          })),
          ...tokenEntries(token, user),
          ...files
        ])
        const begun = (made: typeof settings): Effect.Effect<string, DaemonError> =>
          Effect.gen(function* () {
            const id = yield* timed("create", name, containers.create(name, made))
            yield* containers.write(id, "/", own)
            yield* timed("start", name, containers.start(id))
            return id
          })
        const id = yield* begun(settings).pipe(
          Effect.catchIf(lacksGpus, () => noGpus),
          Effect.catchIf(lacksInit, () =>
            say("The Docker daemon has no init: processes that programs leave behind are not collected.").pipe(
              Effect.zipRight(containers.remove(name)),
              Effect.zipRight(begun({ ...settings, HostConfig: { ...settings.HostConfig, Init: false } }))
            )
          )
        )
        yield* say(`The container of the agent ${spec.agent} has been started.`)
        const besides = sidecars(spec, id)
        yield* timed("connect", name, Effect.all([connected(id, spec.agent, say), besides], { concurrency: "unbounded", discard: true }))
        const info = yield* containers.inspect(id)
        const addresses = Object.values(info?.NetworkSettings.Networks ?? {}).flatMap(({ IPAddress }) => (IPAddress ? [IPAddress] : []))
        return { name: spec.agent, container: name, image, network: network.mode, address: addresses[0] ?? "" } satisfies StartedAgent
      })

    /** Removes what this start has made; volumes only where nothing has run with them. */
    const undo = (isFirst: boolean) =>
      Effect.gen(function* () {
        yield* containers.endAll(yield* containers.list({ ...containers.ours, [labels.attempt]: mark }), Duration.zero)
        if (!isFirst) return
        const own = containers.ofWorkspace(workspace_id)
        const made = yield* containers.volumes({ ...own, [labels.build]: workspace_build_id })
        const ports = yield* containers.volumes({ ...own, [labels.part]: "port" })
        yield* Effect.forEach([...made, ...ports], (one) => containers.removeVolume(one.name), { concurrency, discard: true })
      }).pipe(Effect.ignoreLogged)

    return (isFirst: boolean) =>
      containers.volumes(containers.ofWorkspace(workspace_id)).pipe(
        Effect.map((found) => new Set(found.map(({ name }) => name))),
        Effect.flatMap((known) => Effect.forEach(input.agents, (agent) => started(agent, known), { concurrency })),
        Effect.onError(() => undo(isFirst))
      )
  }

  /** Ends what runs of the workspace, and starts its agents. Failed or interrupted, it leaves the workspace stopped, with the files that it had before. */
  const start = (input: StartInput, before: ReadonlyArray<FoundContainer>, say: Say): Effect.Effect<Started, DaemonError> =>
    Effect.gen(function* () {
      const timings: Array<EngineTiming> = []
      const timed = <A, E>(action: string, resource: string, work: Effect.Effect<A, E>): Effect.Effect<A, E> =>
        Effect.gen(function* () {
          const started_at = yield* Clock.currentTimeMillis
          const result = yield* work
          timings.push({ stage: "apply", source: "docker", action, resource, started_at, ended_at: yield* Clock.currentTimeMillis })
          return result
        })
      // A start that is repeated after a crash may have given its users a workspace already
      const hasRun = before.some(({ labels: found }) => found[labels.build] === input.workspace_build_id)
      if (before.length > 0) yield* timed("stop", "containers", containers.endAll(before, options.stopGrace))
      return { agents: yield* attempt(input, say, timed)(!hasRun), timings }
    }).pipe(Effect.annotateLogs({ workspace_id: input.workspace_id, deployment }))

  return { start }
}

export type Starts = ReturnType<typeof makeStarts>
