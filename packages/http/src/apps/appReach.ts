/** How an app is reached beside its agent, and what it means that it is not. agents-and-apps.md §19. */
import { AgentDialer, type AgentStream, type DirectStream } from "@atelier/core/network"
import type { AppTarget } from "@atelier/core/workspaces"
import { agentBytes, agentSocket } from "@atelier/node"
import { type Clock, type Context, Data, type Duration, Effect, type Scope } from "effect"
import { isIP } from "node:net"
import type { Duplex } from "node:stream"
import { connect as connectTls } from "node:tls"
import { Heartbeat } from "../server/operate/Heartbeat.js"
import { CurrentRequest, type RequestInfo } from "../server/request/CurrentRequest.js"
import { watched } from "./silence.js"

/** The app cannot be reached, or did not answer as HTTP demands; `message` says why, to the caller. */
export class AppFailed extends Data.TaggedError("AppFailed")<{ readonly message: string }> {}

/** How long reaching the app may take. */
const reachWithin = "30 seconds"

/** Where an app is. */
export interface Reached {
  readonly target: AppTarget
  /** The target's address. */
  readonly url: URL
  /** How long a connection may carry nothing. */
  readonly idle: Duration.DurationInput
}

export const failed = (message: string) => new AppFailed({ message })

/** The port that an address means. */
const portOf = ({ port, protocol }: URL): number => (port === "" ? (protocol === "https:" ? 443 : 80) : Number(port))

/** A stream to the app. `onIdle` is called once it has carried nothing for so long. */
const reached = (
  { idle, target, url }: Reached,
  onIdle: (error: AppFailed) => void
): Effect.Effect<AgentStream, AppFailed, AgentDialer | Heartbeat | Scope.Scope> =>
  Effect.gen(function* () {
    const { dial } = yield* AgentDialer
    const dialing = dial({ agent_id: target.agent_id, workspace_id: target.workspace_id, port: portOf(url) })
    const stream = yield* dialing.pipe(
      Effect.mapError(({ message }) => failed(message)),
      Effect.timeoutFail({ duration: reachWithin, onTimeout: () => failed("The application could not be reached in time.") })
    )
    return yield* watched(stream, idle, () => onIdle(failed("The application is silent for too long.")))
  })

/** A connection to the app, through TLS where its address says so. Certificates of apps are their own, and are not verified. */
export const connection = (asked: Reached): Effect.Effect<Duplex, AppFailed, AgentDialer | Heartbeat | Scope.Scope> =>
  Effect.gen(function* () {
    const { url } = asked
    let socket: Duplex | undefined
    const plain = yield* agentSocket(yield* reached(asked, (error) => void socket?.destroy(error)))
    socket = plain
    if (url.protocol === "http:") return plain
    const secured = connectTls({
      socket: plain,
      rejectUnauthorized: false,
      ...(isIP(url.hostname) === 0 ? { servername: url.hostname } : {})
    })
    socket = secured
    yield* Effect.addFinalizer(() => Effect.sync(() => void secured.on("error", () => undefined).destroy()))
    return secured
  })

/** The services that a connection needs, wherever it is opened. */
export interface Surroundings {
  readonly dialer: Context.Tag.Service<typeof AgentDialer>
  readonly heartbeat: Context.Tag.Service<typeof Heartbeat>
  readonly info: RequestInfo
  readonly clock: Clock.Clock
}

const within =
  ({ clock, dialer, heartbeat, info }: Surroundings) =>
  <A>(opening: Effect.Effect<A, AppFailed, AgentDialer | Heartbeat | Scope.Scope>): Effect.Effect<A, AppFailed, Scope.Scope> =>
    opening.pipe(
      Effect.provideService(AgentDialer, dialer),
      Effect.provideService(Heartbeat, heartbeat),
      Effect.provideService(CurrentRequest, info),
      Effect.withClock(clock)
    )

/** Opens a connection wherever it runs. */
export const opening = (asked: Reached, surroundings: Surroundings): Effect.Effect<Duplex, AppFailed, Scope.Scope> =>
  within(surroundings)(connection(asked))

/** Opens a connection without TLS wherever it runs, as a stream by callbacks. */
export const openingPlain =
  (asked: Reached, surroundings: Surroundings) =>
  (onIdle: (error: AppFailed) => void): Effect.Effect<DirectStream, AppFailed, Scope.Scope> =>
    within(surroundings)(Effect.flatMap(reached(asked, onIdle), agentBytes))

/** The same for requests that may share a connection. */
export const placeKey = ({ target, url }: Pick<Reached, "target" | "url">): string =>
  `${target.agent_id} ${url.protocol} ${url.hostname} ${portOf(url)}`

/** What the connection's error tells. */
export const failureOf = ({ code, message }: NodeJS.ErrnoException): AppFailed => {
  if (code === "HPE_HEADER_OVERFLOW") return failed("The head of its answer is too large.")
  if (code === "EPROTO" || code?.startsWith("ERR_SSL_") === true) return failed("It does not speak TLS.")
  if (code?.startsWith("HPE_") === true) return failed("Its answer is not HTTP.")
  if (code === "ECONNRESET") return failed("It broke the connection off without an answer.")
  return failed(message)
}
