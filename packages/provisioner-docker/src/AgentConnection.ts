/** Waits for agents of started containers to reach the service. */
import { awaitAgent, reasonOf } from "@atelier/provisioner/container"
import { Chunk, Duration, Effect, Stream } from "effect"
import { Readable } from "node:stream"
import { DaemonError, type DockerDaemon } from "./DockerDaemon.js"
import type { Say } from "./Images.js"
import { outputOf, shortened } from "./Lines.js"
import type { WorkspaceContainers } from "./WorkspaceContainers.js"

/** How long an agent has to reach the service: a build that fails for this reason takes half a minute at most. */
const connectLimit = Duration.seconds(25)

/** Lines of a container's log that a build shows if its agent does not connect. */
const shownLines = 100

export const makeAgentConnections = (daemon: DockerDaemon, containers: Pick<WorkspaceContainers, "inspect">) => {
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

  return { connected }
}

export type AgentConnections = ReturnType<typeof makeAgentConnections>
