import { Cause, Clock, Deferred, Duration, Effect, ExecutionStrategy, Fiber, Option, Redacted, Scope } from "effect"
import {
  type AgentMessages,
  AgentService,
  DrpcClient,
  ReverseStream,
  Session,
  TokenOffer,
  type AgentClient,
  type RpcError,
  type SessionEnded
} from "@atelier/agent-protocol"
import type { AgentConfig } from "../AgentConfig.js"
import * as Absence from "./Absence.js"
import * as Backoff from "./Backoff.js"
import * as Calls from "./Calls.js"
import { answeredInTime, type Use } from "./Calls.js"
import * as OutageReport from "./OutageReport.js"
import * as ReverseStreams from "../streams/ReverseStreams.js"
import { rpcVersion } from "../Version.js"
import { takingTokens } from "./takingTokens.js"
import * as StartNotices from "./StartNotices.js"
import * as Tokens from "./Tokens.js"
import { connect, emptyTraffic, type ConnectFailed, type Traffic } from "./WebSocketTransport.js"

/** How a server answers a token that it does not take. */
const unauthorized = 401

/**
 * Frames that are sent before the end of a turn. Answers of an app to several requests arrive in one turn: with a part of them the server begins while this process reads
 * the others.
 */
const batchFrames = 6

/** The agent's way to the server, which comes and goes. */
export interface Connection {
  /**
   * Makes a call, on the next connection if currently disconnected. A call without an answer is repeated, so the server may see it twice; an
   * error that it answered is not retried.
   */
  readonly call: <A>(use: Use<A>) => Effect.Effect<A, RpcError>
  /** Makes a call until the server accepts it. */
  readonly deliver: <A>(what: string, use: Use<A>) => Effect.Effect<A>
  /** Connects at once when there is no connection, and from now on after short pauses. */
  readonly hurry: Effect.Effect<void>
  /** Completes once there has been no connection for so long, and an attempt since the call has failed. */
  readonly away: (duration: Duration.DurationInput) => Effect.Effect<void>
  /** Completes once the server refuses a token that it has taken before: its build has been replaced, and nothing more will be taken. */
  readonly refused: Effect.Effect<void>
  readonly traffic: Readonly<Traffic>
}

const addressOf = (url: URL): URL => {
  const address = new URL(url)
  address.protocol = url.protocol === "https:" ? "wss:" : "ws:"
  address.pathname = `${url.pathname.replace(/\/+$/, "")}/api/v2/workspaceagents/me/rpc`
  const offers = { streams: ReverseStream.offered, [TokenOffer.parameter]: TokenOffer.offered }
  address.search = new URLSearchParams({ version: rpcVersion, role: "agent", ...offers }).toString()
  address.hash = ""
  return address
}

const explain = (error: ConnectFailed | SessionEnded | DrpcClient.ClientError): string =>
  error._tag === "ConnectFailed" && error.status !== undefined ? `the server answered ${error.status}: ${error.message}` : error.message

/** Whether the service itself has refused the token, as it does until the agent's build is complete. */
const isKnown = (cause: Cause.Cause<ConnectFailed | SessionEnded | DrpcClient.ClientError>): boolean =>
  Option.exists(
    Cause.failureOption(cause),
    (error) => error._tag === "ConnectFailed" && error.status === unauthorized && error.isService === true
  )

/** How long the connection of the token before is kept after the server has been told of the new one's. */
const lingering = Duration.seconds(5)

/** Connects with the first token that the server does not refuse. */
const accepted = (tokens: Tokens.Tokens, transportWith: (token: Redacted.Redacted) => ReturnType<typeof connect>) =>
  Effect.gen(function* () {
    const [own, ...offered] = tokens.candidates()
    let attempt = Effect.map(transportWith(own), (transport) => ({ transport, token: own }))
    for (const token of offered) {
      attempt = Effect.catchIf(
        attempt,
        ({ status }) => status === unauthorized,
        () => Effect.map(transportWith(token), (transport) => ({ transport, token }))
      )
    }
    return yield* attempt
  })

/** What the agent does with the manifests of its connections. */
export interface Greeting {
  /** Is called when the server offers another token. */
  readonly offered: () => void
  /** Comes first on every connection, with the token that the server has accepted; when it fails, the connection is given up. */
  readonly greet: (client: AgentClient, token: Redacted.Redacted) => Effect.Effect<void, DrpcClient.ClientError>
  /** Works with the manifest of another token, which the connection has become that of. */
  readonly adopt: (
    client: AgentClient,
    token: Redacted.Redacted,
    manifest: AgentMessages.Manifest
  ) => Effect.Effect<void, DrpcClient.ClientError>
}

/** Connects, and connects again whenever the connection is lost, until the scope is closed. */
export const make = (
  config: AgentConfig,
  services: Omit<ReverseStreams.Services, "token">,
  { adopt, greet, offered }: Greeting
): Effect.Effect<Connection, never, Scope.Scope> =>
  Effect.gen(function* () {
    const traffic = emptyTraffic()
    const connected = yield* Effect.makeLatch()
    const absence = yield* Absence.make(connected)
    const refused = yield* Effect.makeLatch()
    const pausing = yield* Effect.makeLatch()
    const outage = yield* OutageReport.make(config)
    const notices = StartNotices.make(config)
    const launchedAt = yield* Clock.currentTimeMillis
    let everConnected = false
    let isHurried = false
    let connectedAt: number | undefined
    let current: AgentClient | undefined
    const tokens = Tokens.make(config.token)

    const transportWith = (token: Redacted.Redacted) =>
      connect({ url: addressOf(config.url), headers: { [config.brand.sessionHeader]: Redacted.value(token) }, traffic })

    /** Serves the server's offer of another token, on the connection of a client. */
    const takeToken = (client: AgentClient) =>
      takingTokens(tokens, { offered, use: (token) => use(token), adopt: (token, manifest) => adopt(client, token, manifest) })

    const once = (replaces: Effect.Effect<void>): Effect.Effect<void, ConnectFailed | SessionEnded | DrpcClient.ClientError> =>
      Effect.gen(function* () {
        const { token, transport } = yield* accepted(tokens, transportWith)
        tokens.accept(token)
        const session = yield* Session.make(transport, { role: "client", maxStreams: ReverseStreams.maximumStreams, batchFrames })
        const client = DrpcClient.make(AgentService, session)
        yield* Effect.raceFirst(answeredInTime(greet(client, token)), Effect.zipRight(session.closed, Effect.never))
        // Streams that the server opens before the greeting has ended wait for the environment that it brings
        const serving = yield* Effect.forkScoped(ReverseStreams.serve(session, { ...services, token: takeToken(client) }))
        connectedAt = yield* Clock.currentTimeMillis
        yield* Effect.acquireRelease(
          Effect.suspend(() => {
            everConnected = true
            current = client
            refused.unsafeClose()
            return connected.open
          }),
          () =>
            Effect.suspend(() => {
              // The connection with the next token may have taken its place
              if (current !== client) return Effect.void
              current = undefined
              return Effect.zipRight(absence.lost, connected.close)
            })
        )
        yield* replaces
        yield* outage.reached
        yield* notices.reached
        yield* Effect.logInfo(`Connected to ${config.url.host}`)
        // An agent that takes no streams any more must not take itself for connected
        yield* Effect.raceFirst(session.closed, Fiber.join(serving))
      }).pipe(Effect.scoped)

    /** The loops that connect, one for each token. Only the last one connects again. */
    let loops = 0
    const reconnecting = (replaces: Effect.Effect<void>) =>
      Effect.gen(function* () {
        loops += 1
        const own = loops
        for (let tries = Backoff.first; ; tries = Backoff.next(tries)) {
          connectedAt = undefined
          let retryAfter: string | undefined
          const reason = yield* Effect.matchCauseEffect(once(replaces), {
            onFailure: (cause) =>
              Effect.sync(() => {
                const error = Option.getOrUndefined(Cause.failureOption(cause))
                // A defect ends this connection, and not the agent's way to the server
                if (error === undefined) return Cause.pretty(cause)
                if (error._tag === "ConnectFailed") retryAfter = error.retryAfter
                if (everConnected && error._tag === "ConnectFailed" && error.status === unauthorized) refused.unsafeOpen()
                return explain(error)
              }).pipe(Effect.tap((reason) => (isKnown(cause) ? notices.reached : notices.unreachable(reason)))),
            onSuccess: () => Effect.succeed("closed by the server")
          })
          if (own !== loops) return
          const now = yield* Clock.currentTimeMillis
          tries = Backoff.after(tries, { connectedAt, now })
          yield* Effect.logWarning(`Not connected to ${config.url.host}: ${reason}`)
          yield* outage.failed(reason)
          yield* absence.failed
          const longest = Backoff.longestPause({ now, launchedAt: everConnected ? undefined : launchedAt, lostAt: tries.lostAt, isHurried })
          const asked = retryAfter === undefined ? 0 : Backoff.askedPause(retryAfter, now)
          yield* Effect.raceFirst(Backoff.wait(tries.attempt, longest, asked), pausing.await)
        }
      })
    // Connections that are made later end with the first one, and not before what is begun until then
    const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
    let connecting = yield* Effect.forkIn(reconnecting(Effect.void), scope)

    /** Connects with a token that has become valid, beside the connection that there is, and then ends that one. */
    const use = (token: Redacted.Redacted): Effect.Effect<void> =>
      Effect.gen(function* () {
        tokens.accept(token)
        const isConnected = yield* Deferred.make<void>()
        const before = connecting
        connecting = yield* Effect.forkIn(reconnecting(Effect.asVoid(Deferred.succeed(isConnected, undefined))), scope)
        yield* Deferred.await(isConnected)
        yield* Effect.forkIn(Effect.delay(Fiber.interrupt(before), lingering), scope)
      })

    const hurry = Effect.suspend(() => {
      isHurried = true
      return pausing.release
    })

    return { ...Calls.make({ connected, current: () => current }), away: absence.away, hurry, refused: refused.await, traffic }
  })
