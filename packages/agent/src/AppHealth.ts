import { get as getHttp } from "node:http"
import { get as getHttps } from "node:https"
import { Duration, Effect, Either, Schedule, type Scope } from "effect"
import { Duration as WireDuration, type AgentMessages } from "@atelier/agent-protocol"
import type { Connection } from "./Connection.js"
import * as LatestByKey from "./LatestByKey.js"
import * as Loop from "./Loop.js"

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
    const request = get(url, { agent: false, signal }, (response) => {
      response.destroy()
      resume(Effect.succeed((response.statusCode ?? firstFailingStatus) < firstFailingStatus))
    })
    request.on("error", () => resume(Effect.succeed(false)))
  })

const check = (address: string, timeout: Duration.Duration): Effect.Effect<boolean> =>
  Either.match(
    Either.try(() => new URL(address)),
    {
      onLeft: () => Effect.succeed(false),
      onRight: (url) =>
        url.protocol === "http:" || url.protocol === "https:"
          ? answers(url).pipe(Effect.timeoutTo({ duration: timeout, onSuccess: (healthy) => healthy, onTimeout: () => false }))
          : Effect.succeed(false)
    }
  )

/** Watches the apps that have a health check, until the scope is closed. */
export const report = (options: {
  readonly connection: Connection
  readonly apps: ReadonlyArray<AgentMessages.WorkspaceApp>
}): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { apps, connection } = options
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
      const once = Effect.map(check(url, Duration.millis(every - 1)), (succeeded) => {
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
