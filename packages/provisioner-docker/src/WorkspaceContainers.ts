/** The containers of workspaces at one daemon. All of them are found by their labels, whatever a state says. */
import type { Uuid } from "@atelier/core/platform"
import { Duration, Effect, Schedule } from "effect"
import type Docker from "dockerode"
import { DaemonError, type DockerDaemon, isConflict, isMissing } from "./DockerDaemon.js"
import { type Labels, labels, ownLabels, withLabels, workspaceIn } from "./Labels.js"

/** A container as the daemon lists it. */
export interface FoundContainer {
  readonly id: string
  readonly name: string
  readonly labels: Labels
  readonly isRunning: boolean
  /** Whether a program has run in it. */
  readonly hasStarted: boolean
  /** Milliseconds since 1970, by the daemon's clock. */
  readonly createdAt: number
}

/** Containers that are created, started or removed at once: the daemon works on the disk for each. */
const concurrency = 4

/** Between two looks at a container that another call removes. */
const removeAgain = Schedule.spaced("250 millis")

/** How long the daemon may take to copy what an image has at the place of a volume. */
const createLimit = Duration.minutes(2)

/** How long a container beside an agent has to end: its agent has gone, so nothing is said to it any more. As `docker stop` does. */
const sidecarGrace = Duration.seconds(10)

/** Sidecars that are stopped at once: each may take its whole grace. */
const stopsAtOnce = 32

/** How long after a stop the daemon may take beyond the grace. */
const stopMargin = Duration.seconds(30)

interface Ends {
  readonly remove: (container: string) => Effect.Effect<void, DaemonError>
  readonly stop: (container: string, grace: Duration.Duration) => Effect.Effect<void, DaemonError>
}

/**
 * Ends containers, those of agents before those beside them, and removes them. Agents have the grace, and sidecars, all at once, at most ten seconds after
 * them.
 */
const endAllWith =
  ({ remove, stop }: Ends) =>
  (found: ReadonlyArray<FoundContainer>, grace: Duration.Duration): Effect.Effect<void, DaemonError> =>
    Effect.gen(function* () {
      const isAgent = (container: FoundContainer) => container.labels[labels.part] === "agent"
      const removing = Effect.unsafeMakeSemaphore(concurrency).withPermits(1)
      const end =
        (within: Duration.Duration) =>
        ({ id, isRunning }: FoundContainer) =>
          Effect.zipRight(isRunning && !Duration.equals(within, Duration.zero) ? stop(id, within) : Effect.void, removing(remove(id)))
      const [agents, sidecars] = [found.filter(isAgent), found.filter((container) => !isAgent(container))]
      yield* Effect.forEach(agents, end(grace), { concurrency: stopsAtOnce, discard: true })
      yield* Effect.forEach(sidecars, end(Duration.min(grace, sidecarGrace)), { concurrency: stopsAtOnce, discard: true })
    })

export const makeWorkspaceContainers = (daemon: DockerDaemon, deployment: string) => {
  const ours: Labels = ownLabels(deployment)

  const list = (wanted: Labels): Effect.Effect<ReadonlyArray<FoundContainer>, DaemonError> =>
    Effect.map(
      daemon.call("the containers cannot be listed", (docker, abortSignal) =>
        docker.listContainers({ all: true, filters: withLabels(wanted), abortSignal })
      ),
      (found) =>
        found
          .map(({ Created, Id, Labels, Names, State }) => ({
            id: Id,
            name: (Names[0] ?? Id).replace(/^\//, ""),
            labels: Labels,
            isRunning: State === "running" || State === "restarting" || State === "paused",
            hasStarted: State !== "created",
            createdAt: Created * 1000
          }))
          // The step of a Dockerfile may have any labels, and never a name of ours
          .filter(({ labels: own, name }) => name.startsWith(`atelier-${own[labels.workspace] ?? deployment}-`))
    )

  /** The ports of workspaces that have the machine's own network, by workspace, whatever service they belong to. */
  const takenPorts: Effect.Effect<ReadonlyMap<string, number>, DaemonError> = Effect.map(
    daemon.call("the containers cannot be listed", (docker, abortSignal) =>
      docker.listContainers({ all: true, filters: { label: [labels.port] }, abortSignal })
    ),
    (found) => new Map(found.map(({ Labels: own }) => [own[labels.workspace] ?? "", Number(own[labels.port])]))
  )

  const isThere = (container: string): Effect.Effect<Docker.ContainerInspectInfo | undefined, DaemonError> =>
    daemon
      .call("the container cannot be read", (docker, abortSignal) => docker.getContainer(container).inspect({ abortSignal }))
      .pipe(Effect.catchIf(isMissing, () => Effect.succeed(undefined)))

  /** Removes a container, running or not. One that another call removes at the same time is waited for. */
  const remove = (container: string): Effect.Effect<void, DaemonError> =>
    daemon
      .call(
        "the container cannot be removed",
        (docker, abortSignal) => docker.getContainer(container).remove({ force: true, v: true, abortSignal }),
        "1 minute"
      )
      .pipe(
        Effect.catchIf(isMissing, () => Effect.void),
        Effect.catchIf(isConflict, () =>
          Effect.flatMap(isThere(container), (found) =>
            found === undefined ? Effect.void : new DaemonError({ message: "the container is being removed by another call" })
          )
        ),
        Effect.retry({ times: 20, while: ({ message }) => message.endsWith("by another call"), schedule: removeAgain })
      )

  /** Asks a container to end, and kills it after the grace. */
  const stop = (container: string, grace: Duration.Duration): Effect.Effect<void, DaemonError> =>
    daemon
      .call(
        "the container cannot be stopped",
        (docker, abortSignal) => docker.getContainer(container).stop({ t: Math.ceil(Duration.toSeconds(grace)), abortSignal }),
        Duration.sum(grace, stopMargin)
      )
      // 304: it does not run
      .pipe(
        Effect.catchIf(
          ({ status }) => status === 304 || status === 404,
          () => Effect.void
        )
      )

  /**
   * Creates a container. The daemon goes on with a call that is given up, so nothing interrupts it: the caller removes what its attempt has made.
   */
  const create = (name: string, settings: Docker.ContainerCreateOptions): Effect.Effect<string, DaemonError> =>
    Effect.uninterruptible(
      Effect.map(
        daemon.call(
          `the container ${name} cannot be made`,
          (docker, abortSignal) => docker.createContainer({ ...settings, name, abortSignal }),
          createLimit
        ),
        ({ id }) => id
      )
    )

  const start = (container: string): Effect.Effect<void, DaemonError> =>
    daemon
      .call("the container cannot be started", (docker, abortSignal) => docker.getContainer(container).start({ abortSignal }), "1 minute")
      // 304: it runs already
      .pipe(
        Effect.catchIf(
          ({ status }) => status === 304,
          () => Effect.void
        ),
        Effect.asVoid,
        Effect.uninterruptible
      )

  const write = (container: string, path: string, tar: Uint8Array): Effect.Effect<void, DaemonError> =>
    Effect.asVoid(
      daemon.call(
        `files cannot be written to ${path}`,
        (docker, abortSignal) => docker.getContainer(container).putArchive(Buffer.from(tar), { path, abortSignal }),
        createLimit
      )
    )

  return {
    ours,
    ofWorkspace: (workspaceId: Uuid.Uuid): Labels => ({ ...ours, [labels.workspace]: workspaceId }),
    list,
    takenPorts,
    inspect: isThere,
    remove,
    endAll: endAllWith({ remove, stop }),
    create,
    start,
    stop,
    write,
    workspaceOf: ({ labels: found }: Pick<FoundContainer, "labels">): Uuid.Uuid | undefined => workspaceIn(found)
  }
}

export type WorkspaceContainers = ReturnType<typeof makeWorkspaceContainers>
