/** The connections of agents to this process that take streams which the service opens. */
import { Array as Arr, Context, Effect, Fiber, Option, Scope } from "effect"
import { Replicas } from "../deployment/Replicas.js"
import * as Background from "../platform/background/Background.js"
import { makeGathering } from "../platform/background/Gathering.js"
import { nextTurn } from "../platform/background/Turns.js"
import { service, standingOn } from "../platform/wiring/Standing.js"
import { writeInHalves } from "../platform/store/writeInHalves.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import type { Uuid } from "../platform/texts/Uuid.js"
import { AgentDialer, type AgentStream, type AgentTarget, AgentUnreachable, EngineDialer } from "./AgentDialer.js"
import { AgentLinkRepository } from "./AgentLinkRepository.js"
import { Coordinator } from "./Coordinator.js"
import { inNetworkAlone, NetworkDialer } from "./NetworkDialer.js"
import { ReplicaStreams } from "./ReplicaStreams.js"

/** Streams that one agent has open at a time, over all its connections to this process. */
export const maximumStreams = 256

/** One connection of an agent. */
export interface AgentLink {
  /** Opens a stream to a port beside the agent. The stream is broken off when the scope closes. */
  readonly open: (port: number) => Effect.Effect<AgentStream, AgentUnreachable, Scope.Scope>
}

/** The refusal of a stream beyond the limit, also by another process. */
export const full = new AgentUnreachable({
  message: `The workspace's agent has ${maximumStreams} streams open, and may have no more.`,
  reason: "busy"
})

/** A link, and the time from which the agent has it. */
interface Linked {
  readonly link: AgentLink
  readonly connectedAt: Timestamp.Timestamp
}

/** An agent with connections of its own, and the streams that are open on them. */
export interface LinkedAgent {
  readonly agent_id: Uuid
  readonly connections: number
  readonly streams: number
}

/** How often a process tells again which agents it has: what it has told goes when the store has not heard of it for half an hour. */
const retold = "5 minutes"

/** How soon the store is told again what it did not hear. */
const retried = "5 seconds"

/** How long the end of a connection waits until the store has forgotten the link. */
const forgottenWithin = "1 second"

/** Links that are told again together. Other work has its turn between two such statements. */
const toldAtOnce = 250

/** Statements that may fail before what fails is left for later as it is. */
const maximumFailures = 20

/** The methods of {@link AgentLinks}. */
export interface AgentLinksService {
  /** Offers an agent's connection, also to the other processes, until the scope closes. */
  readonly offer: (agent: Uuid, link: AgentLink) => Effect.Effect<void, never, Scope.Scope>

  /** Whether an agent takes streams which the service opens, at this process or another one that is alive. */
  readonly isOffered: (agent: Uuid) => Effect.Effect<boolean>

  /** The agents that have connections here. */
  readonly linked: Effect.Effect<ReadonlyArray<LinkedAgent>>

  /** The agent's newest connection, whose streams are counted; undefined where the agent has none. */
  readonly of: (agent: Uuid) => AgentLink | undefined
}

const make = Effect.gen(function* () {
  const repository = yield* AgentLinkRepository
  const { aliveSince, id: replica_id } = yield* Replicas
  const scope = yield* Effect.scope
  const links = new Map<Uuid, Array<Linked>>()
  /** Agents whose links the store may not know, or may know though they have ended. */
  const untold = new Set<Uuid>()
  const streams = new Map<Uuid, number>()

  const add = (agent: Uuid, linked: Linked): void => {
    links.set(agent, [...(links.get(agent) ?? []), linked])
  }

  const remember = (agents: ReadonlyArray<Uuid>) => Effect.sync(() => agents.forEach((agent) => untold.add(agent)))

  const drop = (agent: Uuid): Effect.Effect<void> =>
    Effect.tap(repository.remove(agent, replica_id), () => {
      // The agent has come back, and its new link may have been told before the removal
      if (links.has(agent)) untold.add(agent)
    })

  const forget = (agent: Uuid): Effect.Effect<void> =>
    drop(agent).pipe(
      Effect.tapErrorCause(() => remember([agent])),
      Effect.sandbox,
      Effect.ignoreLogged
    )

  const remove = (agent: Uuid, linked: Linked) =>
    Effect.suspend(() => {
      const left = (links.get(agent) ?? []).filter((other) => other !== linked)
      if (left.length > 0) {
        links.set(agent, left)
        return Effect.void
      }
      links.delete(agent)
      return Background.forkIn("agent_link", scope, Effect.uninterruptible(forget(agent))).pipe(
        Effect.flatMap((forgetting) => Effect.timeoutOption(Effect.interruptible(Fiber.join(forgetting)), forgottenWithin)),
        Effect.asVoid
      )
    })

  const tell = (agents: ReadonlyArray<Uuid>) =>
    Effect.gen(function* () {
      const told = agents.flatMap((agent_id) => {
        const connected_at = links.get(agent_id)?.at(-1)?.connectedAt
        return connected_at === undefined ? [] : [{ agent_id, replica_id, connected_at }]
      })
      // A link whose agent has been deleted keeps no others from being noted
      const unwritten = yield* writeInHalves(told, repository.put, maximumFailures)
      for (const { items } of unwritten) for (const { agent_id } of items) untold.add(agent_id)
      // The link of an agent that has left may have been removed before it was told
      yield* Effect.forEach(told, ({ agent_id }) => (links.has(agent_id) ? Effect.void : forget(agent_id)), { discard: true })
      const [first] = unwritten
      if (first !== undefined) return yield* Effect.failCause(first.cause)
    })

  const tellAgain = (agents: ReadonlyArray<Uuid>) => Effect.zipRight(tell(agents), nextTurn)
  const tellAllAgain = Effect.suspend(() => Background.each("agent_link", Arr.chunksOf(links.keys(), toldAtOnce), tellAgain))
  yield* Background.repeat("agent_link", Effect.delay(tellAllAgain, retold))

  const tellUntold = (agents: ReadonlyArray<Uuid>) =>
    Effect.suspend(() => {
      // First, because the telling of a newer link may fail at the same time
      for (const agent of agents) untold.delete(agent)
      const [gone, linked] = Arr.partition(agents, (agent) => links.has(agent))
      const dropping = Effect.tapErrorCause(Effect.forEach(gone, drop, { discard: true }), () => remember(agents))
      return Effect.zipRight(dropping, tellAgain(linked))
    })
  const tellAllUntold = Effect.suspend(() => Background.tryEach(Arr.chunksOf(untold, toldAtOnce), tellUntold))
  yield* Background.repeat(
    "agent_link",
    Effect.delay(
      Effect.flatMap(tellAllUntold, ({ failure }) => failure),
      retried
    )
  )

  const tellFirst = yield* makeGathering({
    name: "agent_link",
    key: (agent: Uuid) => agent,
    most: toldAtOnce,
    work: (agents: ReadonlyArray<Uuid>) => Effect.as(Effect.ignoreLogged(Effect.sandbox(tell([...new Set(agents)]))), () => undefined)
  })

  const take = (agent: Uuid) =>
    Effect.suspend(() => {
      const open = streams.get(agent) ?? 0
      if (open >= maximumStreams) return full
      streams.set(agent, open + 1)
      return Effect.void
    })

  const release = (agent: Uuid) =>
    Effect.sync(() => {
      const left = (streams.get(agent) ?? 1) - 1
      if (left === 0) streams.delete(agent)
      else streams.set(agent, left)
    })

  return {
    offer: (agent: Uuid, link: AgentLink): Effect.Effect<void, never, Scope.Scope> =>
      Effect.gen(function* () {
        const connection = yield* Effect.scope
        const connectedAt = yield* Timestamp.now
        const linked = { link, connectedAt }
        // `acquireRelease` would keep a copy of the fiber's references for each agent
        yield* Effect.uninterruptible(
          Effect.suspend(() => {
            add(agent, linked)
            return Scope.addFinalizer(connection, remove(agent, linked))
          })
        )
        // The end of the connection does not wait for a store that is slow: what that notes late is forgotten
        yield* tellFirst(agent)
      }),

    isOffered: (agent: Uuid): Effect.Effect<boolean> =>
      Effect.gen(function* () {
        if (links.has(agent)) return true
        return (yield* repository.holders(agent, replica_id, yield* aliveSince)).length > 0
      }),

    linked: Effect.sync((): ReadonlyArray<LinkedAgent> =>
      Array.from(links, ([agent_id, its]) => ({ agent_id, connections: its.length, streams: streams.get(agent_id) ?? 0 }))
    ),

    of: (agent: Uuid): AgentLink | undefined => {
      const link = links.get(agent)?.at(-1)?.link
      if (link === undefined) return undefined
      return {
        open: (port) =>
          Effect.zipRight(
            Effect.acquireRelease(take(agent), () => release(agent)),
            link.open(port)
          )
      }
    }
  }
})

export class AgentLinks extends Context.Tag("@atelier/core/AgentLinks")<AgentLinks, AgentLinksService>() {
  static readonly layer = standingOn(service(AgentLinks, make), Replicas.layer)
}

/** The agent's own port of terminals. agents-and-apps.md §17. */
export const terminalPort = 2

/** The agent's own port of its HTTP API. */
export const apiPort = 4

/** The agent's own port of the processes and files of its machine. */
export const machinePort = 5

/** The refusal of a stream to the machine or of SSH by an agent that does not know such streams, also by another process. */
export const unable = new AgentUnreachable({
  message:
    "This workspace's agent cannot run commands, or serve files or SSH, through the service: it is too old, or not the service's own agent.",
  reason: "unable"
})

/** The agent's own port of offers of another token. */
export const tokenPort = 6

/** The agent's own ports of its SSH server, by what uses the connection. */
export const sshPorts = { ssh: 1, vscode: 7, jetbrains: 8 } as const
export type SshClient = keyof typeof sshPorts

/** Ports of what an agent serves on streams that the service opens, and that is reached in no other way. */
const directPorts: ReadonlySet<number> = new Set([machinePort, tokenPort, ...Object.values(sshPorts)])

/** Ports below this one are the agent's own, such as its terminals. No program of a workspace is reached there. */
export const firstPort = 9

const unconnected = new AgentUnreachable({ message: "The workspace's agent has no connection to the service." })

const unaddressed = new AgentUnreachable({
  message: "The workspace's agent is connected to another process of the service, which has no address for the others."
})

/** How long the host's dialer may take: then the service uses its own ways. */
const hostWithin = "10 seconds"

const hostSilent = new AgentUnreachable({ message: "The workspace's agent was not reached within 10 seconds." })

/**
 * Reaches agents in the first of these ways that an agent has: the host's dialer; the agent's own connection to this process, or else to another
 * process of the deployment; the private network, if both take part there; the dialer of the engine. The host's dialer and the engine's know
 * nothing of the agent's own ports. A target that the host's dialer does not reach is left to the other ways.
 */
export const layerDialer = standingOn(
  service(
    AgentDialer,
    Effect.gen(function* () {
      const { of } = yield* AgentLinks
      const { isConnected } = yield* Coordinator
      const { aliveSince, id } = yield* Replicas
      const repository = yield* AgentLinkRepository
      const streams = yield* ReplicaStreams
      const network = yield* NetworkDialer
      const host = yield* AgentDialer
      const engine = yield* Effect.serviceOption(EngineDialer)

      const elsewhere = (target: AgentTarget) =>
        Effect.gen(function* () {
          const holders = yield* repository.holders(target.agent_id, id, yield* aliveSince)
          const [first, ...others] = holders.map(({ relay_address, replica_id }) =>
            relay_address === "" ? unaddressed : streams.open({ id: replica_id, address: relay_address }, target)
          )
          return first === undefined ? undefined : yield* Effect.firstSuccessOf([first, ...others])
        })

      const own = (target: AgentTarget) =>
        Effect.gen(function* () {
          const link = of(target.agent_id)
          if (link !== undefined) return yield* link.open(target.port)
          const stream = yield* elsewhere(target)
          if (stream !== undefined) return stream
          if (directPorts.has(target.port)) return undefined
          return network.isMember && isConnected(target.agent_id) ? yield* network.dial(target) : undefined
        })

      /** `reason` is why the host's dialer has not reached the target. */
      const otherwise = (target: AgentTarget, reason: AgentUnreachable) =>
        Effect.gen(function* () {
          const stream = yield* own(target)
          if (stream !== undefined) return stream
          const last =
            target.port >= firstPort ? Option.match(engine, { onNone: () => reason, onSome: ({ dial }) => dial(target) }) : reason
          return yield* Effect.mapError(last, (error) => {
            if (!isConnected(target.agent_id)) return error
            return directPorts.has(target.port) ? unable : inNetworkAlone
          })
        })

      return {
        dial: (target) =>
          target.port < firstPort
            ? otherwise(target, unconnected)
            : host.dial(target).pipe(
                Effect.timeoutFail({ duration: hostWithin, onTimeout: () => hostSilent }),
                Effect.catchAll((reason) => otherwise(target, reason))
              )
      }
    })
  ),
  AgentLinks.layer,
  Coordinator.layer,
  Replicas.layer
)
