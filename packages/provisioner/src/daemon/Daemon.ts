/**
 * A daemon on a machine of its own: takes jobs from a server over a connection, and runs them with its engines.
 * templates-and-provisioning.md §7.3, §8.
 */
import { Brand } from "@atelier/agent"
import { connect, type ConnectFailed, emptyTraffic } from "@atelier/agent/transport"
import {
  CallFailed,
  DrpcClient,
  type ProvisionerDaemonClient,
  ProvisionerDaemonService,
  Session,
  type SessionEnded
} from "@atelier/agent-protocol"
import { type Engine, type Phase, ProvisionerEngines } from "@atelier/core/provisioning"
import { Clock, Data, Duration, Effect, Either, Option, Random, Redacted, Stream } from "effect"
import type { Credential, DaemonConfig } from "./DaemonConfig.js"
import { type Acquired, run as runJob } from "./Job.js"
import { sweeping } from "./sweep.js"
import { apiVersion, version } from "./Version.js"

/** The server does not want this daemon: nothing changes that but its operator. */
export class Refused extends Data.TaggedError("Refused")<{ readonly status: number; readonly message: string }> {}

/** How a daemon that runs is asked to stop. */
export interface Stopping {
  /** Completes when the daemon must take no further job. */
  readonly ending: Effect.Effect<void>
  /** Completes when the daemon must hand the running job back. */
  readonly handingBack: Effect.Effect<void>
}

/** Milliseconds between attempts to connect. §7.3. */
const firstPause = 50
const longestPause = 10_000

/** A connection that lasted so long was a good one: the next attempts begin quickly again. */
const goodConnection = 10_000

/** How long the daemon waits after a job that it could not be given. */
const pauseAfterRefusal = Duration.seconds(1)

/** A daemon with one of these never connects; one that has been connected only minds the first. */
const forbidden = 403
const mistakes = new Set([400, 401, 403, 404])

/** A daemon takes any source that one of its engines understands, whatever the template's author called it. */
const provisioners = ["terraform", "echo"]

const credentialHeaders: Readonly<Record<Credential["kind"], string>> = {
  key: "Provisioner-Daemon-Key",
  psk: "Provisioner-Daemon-PSK",
  session: "Session-Token"
}

const headersOf = ({ brand, credential }: DaemonConfig): Readonly<Record<string, string>> => {
  const named = (name: string): string => Brand.make(brand).sessionHeader.replace(/Session-Token$/, name)
  return { [named(credentialHeaders[credential.kind])]: Redacted.value(credential.secret), [named("Build-Version")]: version }
}

const addressOf = (
  { name, organization, tags, url }: DaemonConfig,
  repeatable: ReadonlyArray<Phase>,
  engines: ReadonlyArray<Engine>
): URL => {
  const address = new URL(url)
  address.protocol = url.protocol === "https:" ? "wss:" : "ws:"
  address.pathname = `${url.pathname.replace(/\/+$/, "")}/api/v2/organizations/${encodeURIComponent(organization)}/provisionerdaemons/serve`
  address.hash = ""
  address.search = new URLSearchParams([
    ...provisioners.map((type) => ["provisioner", type]),
    ...tags.map((tag) => ["tag", tag]),
    ...repeatable.map((phase) => ["repeatable", phase]),
    ...engines.map((engine) => ["engine", engine.name]),
    ["name", name],
    ["version", apiVersion]
  ]).toString()
  return address
}

/** Waits for a job. None if the server has none to give now. */
const nextJob = (client: ProvisionerDaemonClient): Effect.Effect<Option.Option<Acquired>, CallFailed> =>
  Stream.runHead(client.AcquireJobWithCancel(Stream.never)).pipe(
    Effect.map(Option.filter(({ job_id }) => job_id !== "")),
    Effect.catchTag("RpcError", ({ message }) =>
      Effect.logWarning(`The server gives no job: ${message}`).pipe(
        Effect.zipRight(Effect.sleep(pauseAfterRefusal)),
        Effect.as(Option.none())
      )
    )
  )

/** Takes jobs over one connection until the daemon is asked to end. */
const serve = (config: DaemonConfig, client: ProvisionerDaemonClient, { ending, handingBack }: Stopping) =>
  Effect.gen(function* () {
    const engines = yield* ProvisionerEngines
    for (;;) {
      const job = yield* Effect.raceFirst(nextJob(client), Effect.as(ending, undefined))
      if (job === undefined) return
      if (Option.isNone(job)) continue
      yield* Effect.logInfo(`Runs the job ${job.value.job_id}`)
      yield* runJob(job.value, { accessUrl: config.url.href.replace(/\/+$/, ""), client, engines, handBack: handingBack }).pipe(
        Effect.catchTag("RpcError", ({ message }) => Effect.logWarning(`The server refuses a report: ${message}`)),
        Effect.annotateLogs({ job: job.value.job_id })
      )
    }
  })

/** One connection, from its beginning to its end. Succeeds if the daemon was asked to end. */
const connection = (config: DaemonConfig, stopping: Stopping, onConnected: Effect.Effect<void>) =>
  Effect.gen(function* () {
    const engines = yield* ProvisionerEngines
    // All engines must be able to repeat a phase: the server does not know which one a job needs
    const repeatable = (["plan", "apply"] as const).filter((phase) => engines.every((engine) => engine.repeatable.has(phase)))
    const connecting = connect({ url: addressOf(config, repeatable, engines), headers: headersOf(config), traffic: emptyTraffic() })
    const transport = yield* Effect.raceFirst(connecting, Effect.as(stopping.ending, undefined))
    if (transport === undefined) return
    const session = yield* Session.make(transport, { role: "client" })
    yield* onConnected
    const client = DrpcClient.make(ProvisionerDaemonService, session)
    yield* sweeping(client)
    const closed = Effect.zipRight(session.closed, Effect.fail(lost))
    yield* Effect.raceFirst(serve(config, client, stopping), closed)
  }).pipe(Effect.scoped)

const lost = new CallFailed({ reason: "connection", message: "the server closed the connection" })

const explain = (error: CallFailed | ConnectFailed | SessionEnded): string =>
  error._tag === "ConnectFailed" && error.status !== undefined ? `${error.status} ${error.message}` : error.message

/**
 * Runs a daemon until it is asked to end, connecting again whenever the connection is lost. A job whose connection is lost is ended here before
 * the next connection, because the server gives it to another daemon. Fails with `Refused` for a 403, and before the first connection also for
 * other mistakes of the operator.
 */
export const run = (config: DaemonConfig, stopping: Stopping): Effect.Effect<void, Refused, ProvisionerEngines> =>
  Effect.gen(function* () {
    let wasConnected = false
    const onConnected = Effect.suspend(() => {
      wasConnected = true
      return Effect.logInfo(`Connected to ${config.url.host} as ${config.name}`)
    })
    for (let attempt = 0; ; attempt += 1) {
      const before = yield* Clock.currentTimeMillis
      const outcome = yield* Effect.either(connection(config, stopping, onConnected))
      if (Either.isRight(outcome)) return
      const error = outcome.left
      const status = error._tag === "ConnectFailed" ? error.status : undefined
      if (status !== undefined && (status === forbidden || (!wasConnected && mistakes.has(status)))) {
        return yield* new Refused({ status, message: error.message })
      }
      if ((yield* Clock.currentTimeMillis) - before >= goodConnection) attempt = 0
      yield* Effect.logWarning(`Not connected to ${config.url.host}: ${explain(error)}`)
      const pause = Math.min(longestPause, firstPause * 2 ** Math.min(attempt, 20)) * (yield* Random.nextRange(0.5, 1.5))
      const isEnding = yield* Effect.raceFirst(Effect.as(Effect.sleep(Duration.millis(pause)), false), Effect.as(stopping.ending, true))
      if (isEnding) return
    }
  })
