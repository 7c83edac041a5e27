/** The start of an agent in a container: its command, its environment, and what it tells of its way to the service. */
import { StartNotice } from "@atelier/agent-protocol"
import { Data, Duration, Effect, Option, Ref, Stream } from "effect"

/** Where the runtime is mounted, read-only. */
export const runtimeDirectory = "/opt/atelier"

/** Where the engine puts what belongs to one agent: its token, and the files of its template. */
export const agentDirectory = "/run/atelier"

export const tokenFile = `${agentDirectory}/token`
export const filesArchive = `${agentDirectory}/files.tar`

/** The agent's command: its own loader starts its own Node, so that the image may have any C library, or none. */
export const agentCommand = (entrypoint: ReadonlyArray<string> = []): ReadonlyArray<string> => [
  ...entrypoint,
  `${runtimeDirectory}/lib/ld.so`,
  "--library-path",
  `${runtimeDirectory}/lib`,
  `${runtimeDirectory}/bin/node`,
  `${runtimeDirectory}/agent.js`
]

/** The variables of the agent; those of the template and the image are beside them. `url` is that of the service as the container sees it. */
export const agentEnvironment = (
  prefix: string,
  { hasFiles, url }: { readonly url: string; readonly hasFiles: boolean }
): Readonly<Record<string, string>> => ({
  [`${prefix}_AGENT_URL`]: url,
  [`${prefix}_AGENT_TOKEN_FILE`]: tokenFile,
  [`${prefix}_AGENT_TELL_START`]: "true",
  ...(hasFiles ? { [`${prefix}_AGENT_FILES`]: filesArchive } : {})
})

/** The outcome of an agent's start. */
export type AgentReport = Data.TaggedEnum<{
  /** The service has answered it. */
  Reached: {}
  /** It has not reached the service in time; `cause` is why it did not the last time. */
  Unreachable: { readonly url: string; readonly cause: string }
  /** It has told nothing in time. */
  Silent: {}
  /** Its container has ended; `cause` is what it said of that. */
  Ended: { readonly cause: string | undefined }
}>
export const AgentReport = Data.taggedEnum<AgentReport>()

/** How long a build waits for an agent to reach the service. */
export const reachWithin = Duration.seconds(30)

/**
 * Follows the output of an agent, line by line, until it has reached the service or ended, at most for the given time. Fails with what the stream fails
 * with.
 */
export const awaitAgent = <E, R>(
  lines: Stream.Stream<string, E, R>,
  within: Duration.DurationInput = reachWithin
): Effect.Effect<AgentReport, E, R> =>
  Effect.gen(function* () {
    const latest = yield* Ref.make(Option.none<Exclude<StartNotice.StartNotice, { readonly agent: "reached" }>>())
    const reached = lines.pipe(
      Stream.filterMap((line) => Option.fromNullable(StartNotice.decode(line))),
      Stream.mapEffect((notice) =>
        notice.agent === "reached" ? Effect.succeed(true) : Effect.as(Ref.set(latest, Option.some(notice)), false)
      ),
      Stream.filter((isReached) => isReached),
      Stream.runHead
    )
    const outcome = yield* Effect.timeoutOption(reached, within)
    const last = Option.getOrUndefined(yield* Ref.get(latest))
    if (Option.isSome(outcome)) return Option.isSome(outcome.value) ? AgentReport.Reached() : AgentReport.Ended({ cause: last?.cause })
    return last?.agent === "unreachable" ? AgentReport.Unreachable({ cause: last.cause, url: last.url }) : AgentReport.Silent()
  })

/** Why a build fails whose agent has not reached the service; undefined if it has. */
export const reasonOf = (report: AgentReport, agent: string): string | undefined =>
  AgentReport.$match(report, {
    Reached: () => undefined,
    Unreachable: ({ cause, url }) =>
      `The agent "${agent}" cannot reach ${url} from its container: ${cause}. The engine's option agentUrl is the address of the service as containers see it.`,
    Silent: () => `The agent "${agent}" has not started in time.`,
    Ended: ({ cause }) => `The container of the agent "${agent}" has ended${cause === undefined ? "" : `: ${cause}`}.`
  })
