import { type ByteStream, ReverseStream, type Session, type StreamReset, TokenOffer } from "@atelier/agent-protocol"
import {
  type AgentLink,
  type AgentStream,
  AgentUnreachable,
  apiPort,
  machinePort,
  type SshClient,
  sshPorts,
  terminalPort,
  tokenPort,
  unable
} from "@atelier/core/network"
import { Uuid } from "@atelier/core/platform"
import { Effect, Redacted, type Scope } from "effect"
import { streamPair } from "./streamPair.js"
import { CurrentRequest } from "../server/request/CurrentRequest.js"

const unreachable = ({ message }: { readonly message: string }) => new AgentUnreachable({ message })

/** What the agent's own ports stand for. */
const ownPorts: Readonly<Record<number, ReverseStream.Request>> = {
  [terminalPort]: { kind: "pty" },
  [apiPort]: { kind: "api" },
  [machinePort]: { kind: "machine" },
  [tokenPort]: { kind: "token" }
}

const withoutTokens = new AgentUnreachable({ message: "The workspace's agent takes no other token." })

const disconnected = new AgentUnreachable({ message: "The workspace's agent has no connection to the service." })

const handedOver = new AgentUnreachable({ message: "The workspace has been given to another owner." })

/** The versions of streams and of tokens that an agent offers; 0 without. */
export interface LinkOffer {
  readonly streams: number
  readonly tokens: number
}

/** What uses a connection of SSH, by the agent's own port. */
const sshClients: ReadonlyMap<number, SshClient> = new Map([
  [sshPorts.ssh, "ssh"],
  [sshPorts.vscode, "vscode"],
  [sshPorts.jetbrains, "jetbrains"]
])

/** Makes the connection that of another token, which is valid. `tell` gives the agent its manifest, and completes when the agent works with it. */
export type Renew = (
  token: Redacted.Redacted<string>,
  tell: (manifest: Uint8Array) => Effect.Effect<void, AgentUnreachable | StreamReset>
) => Effect.Effect<void, AgentUnreachable>

/** A connection of an agent, whose streams may be those of another owner from some time on. */
export interface RenewableLink extends AgentLink {
  /** Ends all streams but those of tokens. Further ones wait for `resume`. */
  readonly suspend: Effect.Effect<void>
  readonly resume: Effect.Effect<void>
}

const asAgentStream = (stream: ByteStream): AgentStream => ({
  read: Effect.mapError(stream.read, unreachable),
  write: (bytes) => Effect.mapError(stream.write(bytes), unreachable),
  finish: stream.finish,
  direct: stream.direct
})

/** What a link asks the connection for that it belongs to. */
export interface LinkOwner {
  /** The host key of the agent's workspace, which is read when SSH is asked for. */
  readonly hostKey: Effect.Effect<Redacted.Redacted>
  readonly renew: Renew
}

/** An agent's session as the service's dialer takes it, for as long as the scope is open. agents-and-apps.md §17. It is no closure: each connected agent has one. */
export class SessionLink implements RenewableLink {
  /** Open again once another owner may have streams; undefined while it may. */
  private suspended: Effect.Latch | undefined = undefined
  /** The streams of the owner that there is now. Made with the first one. */
  private opened: Set<ByteStream> | undefined = undefined

  constructor(
    private readonly session: Session.Session,
    private readonly offers: LinkOffer,
    private readonly owner: LinkOwner,
    private readonly scope: Scope.Scope
  ) {}

  open(port: number): Effect.Effect<AgentStream, AgentUnreachable, Scope.Scope> {
    const { streams, tokens } = this.offers
    if (port === machinePort && streams < ReverseStream.machineVersion) return unable
    if (sshClients.has(port) && streams < ReverseStream.sshVersion) return unable
    if (port !== tokenPort)
      return Effect.map(
        Effect.flatMap(this.requestOf(port), (asked) => this.openOwned(asked)),
        asAgentStream
      )
    if (tokens === 0) return withoutTokens
    if (tokens >= TokenOffer.inPlaceVersion) return this.openOffer
    return Effect.mapBoth(ReverseStream.open(this.session, { kind: "token" }), { onFailure: unreachable, onSuccess: asAgentStream })
  }

  get suspend(): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.suspended ??= Effect.unsafeMakeLatch()
      const before = this.opened ?? []
      this.opened = undefined
      return Effect.forEach(before, (stream) => stream.reset, { discard: true })
    })
  }

  get resume(): Effect.Effect<void> {
    return Effect.sync(() => {
      this.suspended?.unsafeOpen()
      this.suspended = undefined
    })
  }

  private get lost(): Effect.Effect<never, AgentUnreachable> {
    return Effect.matchEffect(this.session.closed, { onFailure: () => disconnected, onSuccess: () => disconnected })
  }

  /** Opens a stream that another owner may not keep. */
  private openOwned(asked: ReverseStream.Request): Effect.Effect<ByteStream, AgentUnreachable, Scope.Scope> {
    return Effect.gen(this, function* () {
      if (this.suspended !== undefined) yield* Effect.raceFirst(this.suspended.await, this.lost)
      const those = (this.opened ??= new Set())
      const { id } = yield* CurrentRequest
      const request = id === Uuid.nil ? asked : { ...asked, request_id: id }
      const stream = yield* Effect.mapError(ReverseStream.open(this.session, request), unreachable)
      if (those !== this.opened) return yield* handedOver
      yield* Effect.acquireRelease(
        Effect.sync(() => those.add(stream)),
        () => Effect.sync(() => those.delete(stream))
      )
      return stream
    })
  }

  /** Opens a stream for another token. What the agent and the service say on it is this process's to act on. */
  private get openOffer(): Effect.Effect<AgentStream, never, Scope.Scope> {
    return Effect.gen(this, function* () {
      const [giver, own] = yield* streamPair
      const passing = Effect.flatMap(Effect.mapError(ReverseStream.open(this.session, { kind: "token" }), unreachable), (stream) =>
        TokenOffer.pass(own, asAgentStream(stream), this.owner.renew)
      )
      // In the connection's scope: once the token is valid, the agent learns of it whatever becomes of the process that gives it
      yield* passing.pipe(
        Effect.mapError(unreachable),
        Effect.scoped,
        Effect.interruptible,
        Effect.onExit(own.close),
        Effect.catchAll(({ message }) => Effect.logDebug(`an agent has not taken another token: ${message}`)),
        Effect.forkIn(this.scope)
      )
      return giver
    })
  }

  private requestOf(port: number): Effect.Effect<ReverseStream.Request> {
    const client = sshClients.get(port)
    return client === undefined
      ? Effect.succeed(ownPorts[port] ?? { kind: "tcp", port })
      : Effect.map(this.owner.hostKey, (key) => ({ kind: "ssh", client, host_key: Redacted.value(key) }))
  }
}
