import { Deferred, Duration, Effect, ExecutionStrategy, Fiber, FiberHandle, Queue, Redacted, Scope } from "effect"
import type { AgentMessages, DrpcClient } from "@atelier/agent-protocol"
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
import * as Rehearsal from "./connection/Rehearsal.js"
import { greeting } from "./ssh/Greeting.js"
import * as Ssh from "./ssh/Ssh.js"
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

/** How long a server may not have been reached, which is longer than a restart takes. Who stops the workspace waits as long, unless it was away before. */
const reachedWithin = Duration.seconds(10)

/** The source of log lines that belong to no script: the nil UUID. */
const generalSource = new Uint8Array(16)

/**
 * Runs an agent: connects to the server and stays connected, runs the workspace's scripts, and reports what the specification has an agent report.
 * Interrupting it shuts the workspace down: running scripts are ended, the stop scripts run, logs and states are delivered, and what the scripts have
 * left behind is killed; that takes at most as long as the stop scripts may, and `flushWithin`; less when the server does not take the token any
 * more or cannot be reached. `offered` is called when the server offers another token, as it does before a workspace is handed over.
 * Spec: agents-and-apps.md §3–§9.
 */
export const run = (
  config: AgentConfig,
  marks: Marks.Marks = Marks.make(config.brand),
  offered: () => void = () => undefined
): Effect.Effect<never> => Effect.forever(live(config, marks, offered))

/** The manifest that the agent works with, and the token that the server has given it for. */
interface Held {
  readonly manifest: AgentMessages.Manifest
  readonly token: Redacted.Redacted
}

/** The scripts of a running workspace that begin with its owner: the server wants them at a start now, and did not before. */
const begunBy =
  (before: AgentMessages.Manifest) =>
  ({ id, run_on_start }: AgentMessages.WorkspaceAgentScript): boolean =>
    run_on_start && before.scripts.some((script) => Buffer.compare(script.id, id) === 0 && !script.run_on_start)

/**
 * One life of an agent. Ends when the server knows the token as that of another agent: a user has claimed the prebuilt workspace, whose agent keeps its
 * token. The next life begins with the manifest of the new owner. An agent that is given another token lives on, with the manifest that the server
 * has for it: its workspace has been handed over as it runs. Spec: templates-and-provisioning.md §5.4.
 */
const live = (config: AgentConfig, marks: Marks.Marks, offered: () => void): Effect.Effect<void> =>
  Effect.gen(function* () {
    const first = yield* Deferred.make<Place.Place>()
    const replaced = yield* Deferred.make<void>()
    /** The manifest that counts is the first one with a token: scripts run once in the agent's life, whatever happens to connections. */
    let held: Held | undefined
    let place: Place.Place | undefined
    const placed = Effect.suspend(() => (place === undefined ? Deferred.await(first) : Effect.succeed(place)))

    const ports = OwnPorts.ofAgent(config.brand.environmentName, config.environment)
    const terminals = yield* Terminals.make(placed, marks)
    const changes = yield* Queue.unbounded<{ readonly before: AgentMessages.Manifest | undefined; readonly held: Held }>()
    // Of all manifests, and until the stop scripts have run
    const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
    const processes = yield* Processes.make(placed, marks)
    const machine = yield* Machine.make([processes, Files.make(Effect.map(placed, ({ directory }) => directory))])
    const asking: Effect.Effect<ReadonlyArray<AgentMessages.BannerConfig>, unknown> = Effect.suspend(() =>
      Effect.map(
        connection.call((client) => client.GetAnnouncementBanners({})),
        ({ announcement_banners }) => announcement_banners
      )
    )
    const ssh = yield* Ssh.make({
      place: placed,
      marks,
      brand: config.brand,
      home: config.homeDirectory,
      greeting: Effect.flatMap(placed, ({ resolve }) => {
        const path = held?.manifest.motd_path ?? ""
        const file = path === "" ? "" : resolve(path, config.homeDirectory)
        return greeting({ home: config.homeDirectory, file, announcements: asking })
      })
    })
    const startupOf = (manifest: AgentMessages.Manifest) => ({ version: `v${version}`, expanded_directory: directoryOf(config, manifest) })
    /** Begins to work with a manifest that came with another token than the one before. */
    const begin = (manifest: AgentMessages.Manifest, token: Redacted.Redacted, told: Effect.Effect<void, DrpcClient.ClientError>) =>
      Effect.gen(function* () {
        const before = held
        // They have the environment of the time before, and may not see the secrets that come. The new owner's come after this: streams wait for its end
        if (before !== undefined) yield* Effect.all([terminals.end, processes.end, ssh.end], { concurrency: "unbounded", discard: true })
        const [next] = yield* Effect.all([Scope.extend(Place.prepare({ ...config, token }, manifest), scope), told], { concurrency: 2 })
        held = { manifest, token }
        place = next
        yield* Deferred.succeed(first, place)
        yield* changes.offer({ before: before?.manifest, held })
      })
    const isAnother = (manifest: AgentMessages.Manifest) =>
      held !== undefined && Buffer.compare(held.manifest.agent_id, manifest.agent_id) !== 0
    const services = { terminals, api: Api.make(placed, ports), ports, ssh }
    const connection = yield* Connection.make(
      config,
      { ...services, machine },
      {
        offered,
        greet: (client, token) =>
          Effect.gen(function* () {
            const now = yield* client.GetManifest({})
            if (isAnother(now)) return yield* Effect.asVoid(Deferred.succeed(replaced, undefined))
            const isKept = held !== undefined && Redacted.value(held.token) === Redacted.value(token)
            const manifest = isKept && held !== undefined ? held.manifest : now
            const told = Effect.asVoid(client.UpdateStartup({ startup: startupOf(manifest) }))
            return yield* isKept ? told : begin(manifest, token, told)
          }),
        adopt: (client, token, manifest) =>
          Effect.suspend(() => {
            if (isAnother(manifest)) return Effect.asVoid(Deferred.succeed(replaced, undefined))
            const isSame = held !== undefined && directoryOf(config, held.manifest) === directoryOf(config, manifest)
            return begin(manifest, token, isSame ? Effect.void : Effect.asVoid(client.UpdateStartup({ startup: startupOf(manifest) })))
          })
      }
    )
    const logs = yield* LogQueue.make(connection)
    const lifecycle = yield* Lifecycle.make(connection)
    let scripts: Scripts.Scripts | undefined

    const shutDown = Effect.gen(function* () {
      yield* connection.hurry
      yield* lifecycle.enter("SHUTTING_DOWN")
      yield* lifecycle.enter(Lifecycle.after.stop[scripts === undefined ? "ok" : yield* scripts.stop])
      yield* Effect.all([terminals.end, processes.end, ssh.end], { concurrency: "unbounded" })
      yield* ProcessTree.terminate({ root: undefined, isMark: marks.isMark })
      const drained = Effect.all([logs.drain, scripts?.drain ?? Effect.void, lifecycle.drain], { concurrency: "unbounded", discard: true })
      yield* Effect.timeoutOption(Effect.raceAll([drained, connection.refused, connection.away(reachedWithin)]), flushWithin)
    })

    /** The work with one manifest, until another one takes its place. */
    const work = ({ manifest }: Held, before: AgentMessages.Manifest | undefined) =>
      Effect.gen(function* () {
        const place = yield* placed
        const own = yield* Scripts.make({ config, connection, logs, manifest, marks, place })
        scripts = own
        yield* AppHealth.report({ connection, apps: manifest.apps, ports, notices: yield* logs.source(generalSource) })
        yield* Metadata.report({ connection, marks, place, descriptions: manifest.metadata })
        if (before === undefined) {
          yield* lifecycle.enter("STARTING")
          yield* lifecycle.enter(Lifecycle.after.start[yield* own.start()])
          if (Rehearsal.isWanted(manifest)) yield* Effect.forkScoped(Rehearsal.rehearse({ config, marks, place, manifest, services }))
        } else {
          yield* Effect.logInfo("The workspace has been handed over to its owner")
          yield* own.start(begunBy(before))
        }
        yield* own.schedule
        return yield* Effect.never
      }).pipe(Effect.scoped)

    // It waits for the first manifest: an agent that was never one of a workspace has nothing to shut down
    const started = yield* changes.take
    const working = yield* FiberHandle.make<never, never>()
    // In a fiber of its own: the interruption that brought this about must not interrupt it.
    yield* Effect.addFinalizer(() => Effect.flatMap(Effect.forkDaemon(Effect.interruptible(shutDown)), Fiber.await))
    yield* Loop.start("the report of statistics", Stats.report(connection, ssh.counts))
    yield* FiberHandle.run(working, work(started.held, started.before))
    const following = Effect.forever(Effect.flatMap(changes.take, ({ before, held }) => FiberHandle.run(working, work(held, before))))
    // What fails in the work ends the agent, which its engine starts again
    yield* Effect.raceFirst(Effect.raceFirst(following, FiberHandle.join(working)), Deferred.await(replaced))
    yield* Effect.logInfo("The workspace has a new owner: the agent begins again")
  }).pipe(Effect.scoped)
