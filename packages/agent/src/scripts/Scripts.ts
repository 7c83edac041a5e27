import { Duration, Effect, Either, Option, Schedule, type Scope } from "effect"
import { Duration as WireDuration, Timestamp, type AgentMessages } from "@atelier/agent-protocol"
import type { AgentConfig } from "../AgentConfig.js"
import * as Command from "./Command.js"
import type { Connection } from "../connection/Connection.js"
import * as Cron from "./Cron.js"
import type { Outcome } from "../reports/Lifecycle.js"
import type { LogQueue } from "../reports/LogQueue.js"
import type { Marks } from "./Marks.js"
import * as Outbox from "../reports/Outbox.js"
import type { Place } from "../environment/Place.js"
import { outputOf, type Script } from "./ScriptOutput.js"

type Stage = "START" | "STOP" | "CRON"

/** Timings waiting for a connection. */
const maximumTimings = 1000

/** How often an error answered to a timing is tried again. */
const timingAttempts = 5

/** How long a stop script without a timeout of its own may take: who stops a workspace does not wait for ever. */
const defaultStopTimeout = Duration.minutes(5)

/** The workspace's scripts. Spec: agents-and-apps.md §7. */
export interface Scripts {
  /** Runs scripts of the start, all unless told which, side by side. Those that do not block a login count, too: clients decide what they wait for. */
  readonly start: (isChosen?: (script: AgentMessages.WorkspaceAgentScript) => boolean) => Effect.Effect<Outcome>
  /** Runs scripts by their schedules, until interrupted. */
  readonly schedule: Effect.Effect<void>
  /** Runs the scripts of the stop side by side. */
  readonly stop: Effect.Effect<Outcome>
  /** Completes when the server knows how all scripts ended. */
  readonly drain: Effect.Effect<void>
}

const outcomeOf = (statuses: ReadonlyArray<Command.Status>): Outcome => {
  if (statuses.includes("EXIT_FAILURE")) return "error"
  return statuses.includes("TIMED_OUT") ? "timeout" : "ok"
}

/** The timeout of the script's template, if it has one. */
const ownTimeout = ({ manifest: { timeout } }: Script): Option.Option<Duration.Duration> =>
  Option.filter(Option.map(Option.fromNullable(timeout), WireDuration.toDuration), (duration) => Duration.toMillis(duration) > 0)

export const make = (options: {
  readonly config: AgentConfig
  readonly connection: Connection
  readonly logs: LogQueue
  readonly marks: Marks
  readonly place: Place
  readonly manifest: AgentMessages.Manifest
}): Effect.Effect<Scripts, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { config, connection, logs, manifest, marks, place } = options
    const scripts = yield* Effect.forEach(manifest.scripts, (script) =>
      Effect.map(logs.source(script.log_source_id), (source): Script => ({ manifest: script, logs: source }))
    )

    const timings = yield* Outbox.make<AgentMessages.Timing>({
      capacity: maximumTimings,
      deliver: (timing) =>
        connection
          .call((client) => client.ScriptCompleted({ timing }))
          .pipe(
            Effect.retry({ times: timingAttempts, schedule: Schedule.exponential("200 millis") }),
            Effect.catchAll((error) => Effect.logWarning(`The server does not take how a script ended: ${error.message}`))
          )
    })

    const run = (stage: Stage, script: Script, timeout: Option.Option<Duration.Duration>): Effect.Effect<Command.Status> =>
      Effect.gen(function* () {
        const { id, display_name } = script.manifest
        const completion = yield* Command.run(
          {
            script: script.manifest.script,
            shell: place.shell,
            directory: place.directory,
            environment: place.variables,
            mark: marks.next(),
            timeout,
            // Engines ask everything in the agent's group to end, perhaps several times, while these do their work.
            ownGroup: stage === "STOP"
          },
          outputOf({ place, logDirectory: config.logDirectory }, script)
        )
        if (completion.status === "PIPES_LEFT_OPEN")
          script.logs.write("WARN", "The script ended, but a process that it left behind keeps its output open.")
        if (completion.status === "TIMED_OUT") script.logs.write("ERROR", "The script took too long and was killed.")
        yield* Effect.logInfo(`The script "${display_name}" ended: ${completion.status} (${completion.exitCode})`)
        timings.add({
          script_id: id,
          start: Timestamp.fromMillis(completion.startedAt),
          end: Timestamp.fromMillis(completion.endedAt),
          exit_code: completion.exitCode,
          stage,
          status: completion.status
        })
        return completion.status
      })

    const stage = (name: Stage, chosen: ReadonlyArray<Script>, fallback: Option.Option<Duration.Duration>) =>
      Effect.forEach(
        chosen,
        (script) =>
          run(
            name,
            script,
            Option.orElse(ownTimeout(script), () => fallback)
          ),
        {
          concurrency: "unbounded"
        }
      ).pipe(Effect.map(outcomeOf))

    const scheduled = (script: Script): Effect.Effect<void> =>
      Either.match(Cron.parse(script.manifest.cron), {
        onLeft: (message) =>
          Effect.sync(() => script.logs.write("ERROR", `The schedule "${script.manifest.cron}" cannot be read: ${message}`)),
        onRight: (schedule) =>
          Cron.at(
            schedule,
            Effect.catchAllCause(Effect.asVoid(run("CRON", script, ownTimeout(script))), (cause) =>
              Effect.logError(`The script "${script.manifest.display_name}" could not be run`, cause)
            )
          )
      })

    const chosen = (isChosen: (script: AgentMessages.WorkspaceAgentScript) => boolean) =>
      scripts.filter(({ manifest }) => isChosen(manifest))

    return {
      start: (isChosen = ({ run_on_start }) => run_on_start) => stage("START", chosen(isChosen), Option.none()),
      schedule: Effect.forEach(
        chosen(({ cron }) => cron !== ""),
        scheduled,
        { concurrency: "unbounded", discard: true }
      ),
      stop: stage(
        "STOP",
        chosen(({ run_on_stop }) => run_on_stop),
        Option.some(defaultStopTimeout)
      ),
      drain: timings.drain
    }
  })
