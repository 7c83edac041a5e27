import { Deferred, Duration, Effect, Fiber } from "effect"
import type { AgentMessages } from "@atelier/agent-protocol"
import type { AgentConfig } from "./AgentConfig.js"
import * as Api from "./streams/Api.js"
import * as AppHealth from "./reports/AppHealth.js"
import * as Connection from "./connection/Connection.js"
import { directoryOf } from "./environment/Environment.js"
import * as Lifecycle from "./reports/Lifecycle.js"
import * as LogQueue from "./reports/LogQueue.js"
import * as Loop from "./Loop.js"
import * as Files from "./machine/files/Files.js"
import * as Machine from "./machine/Machine.js"
import * as Marks from "./scripts/Marks.js"
import * as Metadata from "./reports/Metadata.js"
import * as OwnPorts from "./streams/OwnPorts.js"
import * as Place from "./environment/Place.js"
import * as Processes from "./machine/processes/Processes.js"
import * as ProcessTree from "./scripts/ProcessTree.js"
import * as Scripts from "./scripts/Scripts.js"
import * as Stats from "./reports/Stats.js"
import * as Terminals from "./streams/Terminals.js"
import { version } from "./Version.js"

/** How long a shutdown may go on for the sake of what the server does not know yet, after the stop scripts. */
const flushWithin = Duration.seconds(30)

/** The source of log lines that belong to no script: the nil UUID. */
const generalSource = new Uint8Array(16)

/**
 * Runs an agent: connects to the server and stays connected, runs the workspace's scripts, and reports what the specification has an agent report.
 * Interrupting it shuts the workspace down: running scripts are ended, the stop scripts run, logs and states are delivered, and what the scripts have
 * left behind is killed; that takes at most as long as the stop scripts may, and `flushWithin`; less when the server does not take the token any
 * more. Spec: agents-and-apps.md §3–§9.
 */
export const run = (config: AgentConfig, marks: Marks.Marks = Marks.make(config.brand)): Effect.Effect<never> =>
  Effect.forever(live(config, marks))

/**
 * One life of an agent. Ends when the server knows the token as that of another agent: a user has claimed the prebuilt workspace, whose agent keeps its
 * token. The next life begins with the manifest of the new owner. Spec: templates-and-provisioning.md §5.4.
 */
const live = (config: AgentConfig, marks: Marks.Marks): Effect.Effect<void> =>
  Effect.gen(function* () {
    const first = yield* Deferred.make<AgentMessages.Manifest>()
    const replaced = yield* Deferred.make<void>()

    // The manifest that counts is the first one of this agent: scripts run once in its life, whatever happens to connections.
    const placed = yield* Deferred.make<Place.Place>()
    const ports = OwnPorts.ofAgent(config.brand.environmentName, config.environment)
    const terminals = yield* Terminals.make(placed, marks)
    const directory = Effect.map(Deferred.await(placed), (place) => place.directory)
    const machine = yield* Machine.make([Processes.make(placed, marks), Files.make(directory)])
    const connection = yield* Connection.make(config, { terminals, api: Api.make(placed, ports), machine, ports }, (client) =>
      Effect.gen(function* () {
        const now = yield* client.GetManifest({})
        const manifest = (yield* Deferred.isDone(first)) ? yield* Deferred.await(first) : now
        if (Buffer.compare(manifest.agent_id, now.agent_id) !== 0) return yield* Effect.asVoid(Deferred.succeed(replaced, undefined))
        yield* client.UpdateStartup({ startup: { version: `v${version}`, expanded_directory: directoryOf(config, manifest) } })
        yield* Deferred.succeed(first, manifest)
      })
    )
    const logs = yield* LogQueue.make(connection)
    const lifecycle = yield* Lifecycle.make(connection)

    const manifest = yield* Deferred.await(first)
    const place = yield* Place.prepare(config, manifest)
    yield* Deferred.succeed(placed, place)
    const scripts = yield* Scripts.make({ config, connection, logs, manifest, marks, place })

    const shutDown = Effect.gen(function* () {
      yield* connection.hurry
      yield* lifecycle.enter("SHUTTING_DOWN")
      yield* lifecycle.enter(Lifecycle.after.stop[yield* scripts.stop])
      yield* terminals.end
      yield* ProcessTree.terminate({ root: undefined, isMark: marks.isMark })
      const drained = Effect.all([logs.drain, scripts.drain, lifecycle.drain], { concurrency: "unbounded", discard: true })
      yield* Effect.timeoutOption(Effect.raceFirst(drained, connection.refused), flushWithin)
    })
    // In a fiber of its own: the interruption that brought this about must not interrupt it.
    yield* Effect.addFinalizer(() => Effect.flatMap(Effect.forkDaemon(Effect.interruptible(shutDown)), Fiber.await))

    yield* Loop.start("the report of statistics", Stats.report(connection))
    yield* AppHealth.report({ connection, apps: manifest.apps, ports, notices: yield* logs.source(generalSource) })
    yield* Metadata.report({ connection, marks, place, descriptions: manifest.metadata })

    const working = Effect.gen(function* () {
      yield* lifecycle.enter("STARTING")
      yield* lifecycle.enter(Lifecycle.after.start[yield* scripts.start])
      yield* scripts.schedule
      return yield* Effect.never
    })
    yield* Effect.raceFirst(working, Deferred.await(replaced))
    yield* Effect.logInfo("The workspace has a new owner: the agent begins again")
  }).pipe(Effect.scoped)
