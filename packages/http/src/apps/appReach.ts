/** How an app is reached beside its agent, and what it means that it is not. agents-and-apps.md §19. */
import { AgentDialer } from "@atelier/core/network"
import type { AppTarget } from "@atelier/core/workspaces"
import { agentSocket } from "@atelier/node"
import { type Clock, type Context, Data, type Duration, Effect, type Scope } from "effect"
import { isIP } from "node:net"
import type { Duplex } from "node:stream"
import { connect as connectTls } from "node:tls"
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

/** A connection to the app, through TLS where its address says so. Certificates of apps are their own, and are not verified. */
export const connection = ({ idle, target, url }: Reached): Effect.Effect<Duplex, AppFailed, AgentDialer | Scope.Scope> =>
  Effect.gen(function* () {
    const { dial } = yield* AgentDialer
    const dialing = dial({ agent_id: target.agent_id, workspace_id: target.workspace_id, port: portOf(url) })
    const stream = yield* dialing.pipe(
      Effect.mapError(({ message }) => failed(message)),
      Effect.timeoutFail({ duration: reachWithin, onTimeout: () => failed("The application could not be reached in time.") })
    )
    let socket: Duplex | undefined
    const idleEnd = (): void => void socket?.destroy(failed("The application is silent for too long."))
    const plain = yield* agentSocket(yield* watched(stream, idle, idleEnd))
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

/** Opens a connection wherever it runs. */
export const opening = (
  asked: Reached,
  dialer: Context.Tag.Service<typeof AgentDialer>,
  info: RequestInfo,
  clock: Clock.Clock
): Effect.Effect<Duplex, AppFailed, Scope.Scope> =>
  connection(asked).pipe(Effect.provideService(AgentDialer, dialer), Effect.provideService(CurrentRequest, info), Effect.withClock(clock))

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
