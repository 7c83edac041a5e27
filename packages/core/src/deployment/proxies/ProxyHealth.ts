/** Whether proxies work: each process asks each of them. agents-and-apps.md §21. */
import { Context, Effect, Either, Option, Schema, type Scope } from "effect"
import { DeploymentOptions } from "../options/DeploymentOptions.js"
import * as Background from "../../platform/background/Background.js"
import { channel, EventBus, listen } from "../../platform/events/EventBus.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { publish } from "../../platform/store/Transactor.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import * as Worker from "../../platform/background/Worker.js"
import { type WorkspaceProxy, WorkspaceProxyRepository } from "./WorkspaceProxy.js"
import { service } from "../../platform/wiring/Standing.js"

export const ProxyHealthStatus = Schema.Literal("ok", "unreachable", "unhealthy", "unregistered", "unknown")
export type ProxyHealthStatus = typeof ProxyHealthStatus.Type

export interface ProxyReport {
  readonly errors: ReadonlyArray<string>
  readonly warnings: ReadonlyArray<string>
}

export interface ProxyStatus {
  readonly status: ProxyHealthStatus
  readonly report: ProxyReport
  readonly checked_at: Timestamp.Timestamp
}

/** Port: asks an address for its report of health. Follows no redirects, and takes no more than 5 seconds. */
export class ProxyProbe extends Context.Reference<ProxyProbe>()("@atelier/core/ProxyProbe", {
  defaultValue: (): {
    /** The status and the text of the answer; fails without an answer. */
    readonly get: (url: string) => Effect.Effect<{ readonly status: number; readonly text: string }, Error>
  } => ({ get: () => Effect.fail(new Error("no addresses can be read here")) })
}) {}

/** Texts of a report that are kept. */
const maximumTexts = 100

const Texts = Schema.optionalWith(Schema.NullOr(Schema.Array(Schema.String)), { default: () => null })
const Report = Schema.parseJson(Schema.Struct({ errors: Texts, warnings: Texts }))
const readReport = Schema.decodeUnknownOption(Report)

const bounded = (texts: ReadonlyArray<string> | null): ReadonlyArray<string> =>
  (texts ?? []).slice(0, maximumTexts).map((text) => text.slice(0, 1000))

type Finding = Omit<ProxyStatus, "checked_at">

const unhealthy = (error: string): Finding => ({ status: "unhealthy", report: { errors: [error], warnings: [] } })

/** The health of a proxy that follows from its answer, or from the lack of one. */
export const findingOf = (answer: Either.Either<{ readonly status: number; readonly text: string }, Error>): Finding => {
  if (Either.isLeft(answer)) return { status: "unreachable", report: { errors: [answer.left.message], warnings: [] } }
  const { status, text } = answer.right
  if (status !== 200) return unhealthy(`The proxy answers with status ${status}.`)
  const report = Option.getOrUndefined(readReport(text))
  if (report === undefined) return unhealthy("The proxy's answer is no report of health.")
  const errors = bounded(report.errors)
  return { status: errors.length === 0 ? "ok" : "unhealthy", report: { errors, warnings: bounded(report.warnings) } }
}

const nothing: ProxyReport = { errors: [], warnings: [] }

/** Proxies asked at a time. */
const concurrency = 5

/** Something has changed that the health of proxies follows from. */
const proxiesChanged = channel("workspace_proxies", Schema.Struct({}))

/** The methods of {@link ProxyHealth}. */
export interface ProxyHealthService {
  /** What was found out last. */
  readonly of: (proxy: Pick<WorkspaceProxy, "id" | "url">) => Effect.Effect<ProxyStatus>

  /** The proxies that work and relay packets, as they were found last. */
  readonly relaying: Effect.Effect<ReadonlyArray<WorkspaceProxy>>

  /** Has every process ask all soon, once the transaction has ended: something has changed. */
  readonly recheck: Effect.Effect<void>

  /** Asks all from time to time, until the scope closes. */
  readonly keep: Effect.Effect<void, never, Scope.Scope>
}

const make = Effect.gen(function* () {
  const bus = yield* EventBus
  const repository = yield* WorkspaceProxyRepository
  const probe = yield* ProxyProbe
  const { proxyHealthInterval } = yield* DeploymentOptions
  const wanted = yield* Effect.makeLatch(false)
  let healthy: ReadonlyArray<WorkspaceProxy> = []
  let known: ReadonlyMap<Uuid, ProxyStatus> = new Map()

  const ask = ({ url }: WorkspaceProxy) =>
    Effect.gen(function* () {
      const finding: Finding =
        url === ""
          ? { status: "unregistered", report: nothing }
          : findingOf(yield* Effect.either(probe.get(`${url.replace(/\/$/, "")}/healthz-report`)))
      return { ...finding, checked_at: yield* Timestamp.now }
    })

  const check = Effect.gen(function* () {
    const proxies = yield* repository.list
    const found = new Map<Uuid, ProxyStatus>()
    yield* Background.each("proxy_health", proxies, (proxy) => Effect.map(ask(proxy), (status) => found.set(proxy.id, status)), {
      concurrency
    })
    known = found
    healthy = proxies.filter(({ id }) => known.get(id)?.status === "ok")
  })

  const round = Effect.gen(function* () {
    yield* wanted.close
    yield* check
    yield* Effect.raceFirst(wanted.await, Effect.sleep(proxyHealthInterval))
  })

  return {
    of: (proxy: Pick<WorkspaceProxy, "id" | "url">): Effect.Effect<ProxyStatus> =>
      Effect.map(Timestamp.now, (now): ProxyStatus => {
        const found = known.get(proxy.id)
        if (found !== undefined && (found.status !== "unregistered" || proxy.url === "")) return found
        return { status: proxy.url === "" ? "unregistered" : "unknown", report: nothing, checked_at: now }
      }),

    relaying: Effect.sync(() => healthy.filter(({ derp_enabled }) => derp_enabled)),

    recheck: Effect.provideService(publish(proxiesChanged, {}), EventBus, bus),

    keep: Effect.gen(function* () {
      yield* Effect.provideService(
        listen(proxiesChanged, () => Effect.runSync(wanted.open)),
        EventBus,
        bus
      )
      yield* Background.repeat("proxy_health", Effect.zipRight(Worker.begun, round))
    }) satisfies Effect.Effect<void, never, Scope.Scope>
  }
})

export class ProxyHealth extends Context.Tag("@atelier/core/ProxyHealth")<ProxyHealth, ProxyHealthService>() {
  static readonly layer = service(ProxyHealth, make)
}
