import { get as getHttp } from "node:http"
import { get as getHttps } from "node:https"
import { Duration, Effect, Option, Schedule, type Scope } from "effect"
import { Duration as WireDuration, type AgentMessages } from "@atelier/agent-protocol"
import type { Connection } from "../connection/Connection.js"
import { isLoopback, resolving } from "../connection/Loopback.js"
import * as LatestByKey from "./LatestByKey.js"
import type { LogSource } from "./LogQueue.js"
import * as Loop from "../Loop.js"
import type { OwnPorts } from "../streams/OwnPorts.js"

/** The state of an app. */
export interface AppState {
  readonly health: AgentMessages.AppHealth
  /** Checks that failed in a row, counted up to the threshold. */
  readonly failures: number
}

/**
 * The state after a check: healthy as soon as one succeeds; unhealthy when one fails after as many failures as the threshold says.
 * Spec: agents-and-apps.md §6.
 */
export const afterCheck = (state: AppState, succeeded: boolean, threshold: number): AppState => {
  if (succeeded) return { health: "HEALTHY", failures: 0 }
  if (state.failures < threshold) return { ...state, failures: state.failures + 1 }
  return { ...state, health: "UNHEALTHY" }
}

/** The shortest time between two checks, in milliseconds; an interval of zero would check without pause. */
const shortestInterval = 100

/** Changes are reported at most this often (agents-and-apps.md §6). */
const spacing = Duration.seconds(1)

const firstFailingStatus = 500

/** Whether an app answers with a status below 500, without following redirects. */
const answers = (url: URL): Effect.Effect<boolean> =>
  Effect.async((resume, signal) => {
    const get = url.protocol === "https:" ? getHttps : getHttp
    const request = get(url, { agent: false, signal, ...resolving(url) }, (response) => {
      response.destroy()
      resume(Effect.succeed((response.statusCode ?? firstFailingStatus) < firstFailingStatus))
    })
    request.on("error", () => resume(Effect.succeed(false)))
  })

/** The outcome of a check: `foreign` is the port on which another workspace's program answers in place of the app. */
interface Checked {
  readonly succeeded: boolean
  readonly foreign?: number
}

const failed: Checked = { succeeded: false }

const portOf = ({ port, protocol }: URL): number => (port === "" ? (protocol === "https:" ? 443 : 80) : Number(port))

const check = (address: string, ports: OwnPorts, timeout: Duration.Duration): Effect.Effect<Checked> =>
  Effect.gen(function* () {
    const url = Option.getOrNull(Option.liftThrowable(() => new URL(address))())
    if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return failed
    const port = portOf(url)
    // Workspaces of one machine may share its loopback interface
    if (isLoopback(url.hostname) && (yield* Effect.promise(() => ports.isForeign(port)))) return { succeeded: false, foreign: port }
    return { succeeded: yield* answers(url) }
  }).pipe(Effect.timeoutTo({ duration: timeout, onSuccess: (checked) => checked, onTimeout: () => failed }))

/** Watches the apps that have a health check, until the scope is closed. */
export const report = (options: {
  readonly connection: Connection
  readonly apps: ReadonlyArray<AgentMessages.WorkspaceApp>
  readonly ports: OwnPorts
  /** Where it is said that an app is unhealthy for a reason that its own log cannot have. */
  readonly notices: LogSource
}): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { apps, connection, notices, ports } = options
    const changes = yield* LatestByKey.make<Uint8Array, AgentMessages.AppHealth>({
      spacing,
      gather: Duration.zero,
      fitting: (ids) => ids,
      report: (batch) =>
        Effect.asVoid(
          connection.deliver("the health of apps", (client) =>
            client.BatchUpdateAppHealths({ updates: batch.map(([id, health]) => ({ id, health })) })
          )
        )
    })

    const watch = (app: AgentMessages.WorkspaceApp, { interval, threshold, url }: AgentMessages.Healthcheck) => {
      const every = Math.max(interval === undefined ? 0 : WireDuration.toMillis(interval), shortestInterval)
      let state: AppState = { health: app.health, failures: 0 }
      let noted: number | undefined
      const once = Effect.map(check(url, ports, Duration.millis(every - 1)), ({ foreign: port, succeeded }) => {
        if (port !== undefined && port !== noted)
          notices.write("ERROR", `The app ${app.slug} is unhealthy: port ${port} is used by another program.`)
        if (port !== undefined || succeeded) noted = port
        const next = afterCheck(state, succeeded, threshold)
        if (next.health !== state.health) changes.set(app.id, next.health)
        state = next
      })
      return Loop.scheduled(`the check of the app ${app.slug}`, once, Schedule.fixed(Duration.millis(every)))
    }

    const watching = Effect.forEach(
      apps,
      (app) => (app.healthcheck === undefined || app.healthcheck.url === "" ? Effect.void : watch(app, app.healthcheck)),
      { concurrency: "unbounded", discard: true }
    )
    yield* Effect.forkScoped(watching)
  })
