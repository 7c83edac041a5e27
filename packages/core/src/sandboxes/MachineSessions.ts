/** Sessions of the service's users with the machines of agents: what the connection log and the workspace's deadline learn of them. */
import { Clock, Context, Effect, Scope } from "effect"
import { CurrentActor } from "../access/actors/Actor.js"
import { TooManyStreams } from "../access/streams/StreamRights.js"
import { type AgentWorkspace, isPrebuilt } from "../agents/AgentWorkspace.js"
import { ActivityReports } from "../agents/reports/ActivityReports.js"
import { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import type { ConnectionSession, ConnectionType } from "../logs/ConnectionLog.js"
import { ConnectionLogs } from "../logs/ConnectionLogs.js"
import * as Background from "../platform/background/Background.js"
import { startUnlessManual } from "../platform/background/BackgroundWork.js"
import { Ids } from "../platform/Ids.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { service, standingOn } from "../platform/wiring/Standing.js"

/** How often use is reported, as the use of apps and terminals is. */
const reportInterval = "30 seconds"

/** Milliseconds without a request after which a session of many short requests is over. */
const idleTime = 60_000

/** How long a session may wait for its entry in the log, so that many are stored together. */
const loggedWithin = "1 second"

/** Entries that wait for a store that is away; further sessions are left out of the log. */
const maximumUnlogged = 20_000

/** Sessions of short requests that this process remembers. The requests of others are a session each. */
const capacity = 10_000

/** Characters of a user agent by which sessions differ. */
const maximumUserAgent = 256

/**
 * How a request is logged: a `command` is a session of its own; `requests` of one user and program to one agent are one session, until none has come
 * for a minute.
 */
export type SessionKind = "command" | "requests"

/** What uses a connection of SSH. */
export type SshType = Extract<ConnectionType, "ssh" | "vscode" | "jetbrains">

interface Session {
  readonly logged: ConnectionSession
  open: number
  /** Milliseconds since 1970. */
  last: number
}

/** Workspaces that are in use, with their open requests. */
interface Use {
  readonly isPrebuilt: boolean
  open: number
}

/** The methods of {@link MachineSessions}. */
export interface MachineSessionsService {
  /**
   * Begins a request of the actor, which ends with the scope. It counts as a use of the workspace, and reaches the connection log a second later, without a wait
   * for the store. Fails with `TooManyStreams` if the agent has as many requests open as it may.
   */
  readonly begin: (agent: AgentWorkspace, kind: SessionKind) => Effect.Effect<void, TooManyStreams, CurrentActor | Scope.Scope>

  /** Begins a connection of the actor's SSH client, which ends with the scope. It is logged with its own type, and counts as a use of the workspace. */
  readonly connect: (agent: AgentWorkspace, type: SshType) => Effect.Effect<void, never, CurrentActor | Scope.Scope>
}

/** What the log does not know yet: a short command is one entry with its end. */
const makeUnlogged = Effect.gen(function* () {
  const connections = yield* ConnectionLogs
  let unlogged = new Map<ConnectionSession["connection_id"], ConnectionSession>()
  const isUnlogged = yield* Effect.makeLatch(false)

  const log = (session: ConnectionSession): void => {
    // While the store is away for long, the sessions that are known stay
    if (unlogged.size >= maximumUnlogged && !unlogged.has(session.connection_id)) return
    unlogged.set(session.connection_id, session)
    isUnlogged.unsafeOpen()
  }

  return {
    log,

    end: (logged: ConnectionSession) => Effect.map(Timestamp.now, (disconnect_time) => log({ ...logged, disconnect_time })),

    /** Succeeds when there is something to store. */
    some: isUnlogged.await,

    /** Stores what the log does not know. What could not be stored is stored the next time. */
    write: Effect.suspend(() => {
      isUnlogged.unsafeClose()
      const batch = unlogged
      unlogged = new Map()
      return Effect.onError(connections.recordSessions(batch.values()), () =>
        Effect.sync(() => {
          for (const [id, session] of batch) if (!unlogged.has(id)) log(session)
        })
      )
    })
  }
})

/** The workspaces that are in use, and the report of them. */
const makeUses = Effect.map(ActivityReports, (activity) => {
  const used = new Map<AgentWorkspace["workspace_id"], Use>()
  return {
    /** Counts a request as a use until the scope ends. */
    use: (agent: AgentWorkspace) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const known = used.get(agent.workspace_id) ?? { isPrebuilt: isPrebuilt(agent), open: 0 }
          known.open += 1
          used.set(agent.workspace_id, known)
          return known
        }),
        (known) => Effect.sync(() => void (known.open -= 1))
      ),

    /** A use that could not be stored is reported the next time. */
    report: Effect.suspend(() =>
      Background.tryEach(Array.from(used), ([id, use]) => {
        // Before the report: a use that begins and ends during it is one of the next
        if (use.open === 0) used.delete(id)
        const told = Effect.zipRight(activity.markUsed(id), use.isPrebuilt ? Effect.void : activity.bump(id, { considerAutostart: true }))
        return Effect.onError(told, () => Effect.sync(() => used.has(id) || used.set(id, use)))
      })
    ).pipe(Effect.flatMap(({ failure }) => failure))
  }
})

/** Takes one of the `maximum` requests that an agent may have open, until the scope ends. */
const makePlaces = (maximum: number) => {
  const open = new Map<AgentWorkspace["agent_id"], number>()
  return ({ agent_id }: AgentWorkspace) =>
    Effect.acquireRelease(
      Effect.suspend(() => {
        const count = open.get(agent_id) ?? 0
        if (count >= maximum) {
          return new TooManyStreams({
            message: `The workspace's agent has ${maximum} requests for its processes and files open, and may have no more.`
          })
        }
        open.set(agent_id, count + 1)
        return Effect.void
      }),
      () =>
        Effect.sync(() => {
          const left = (open.get(agent_id) ?? 1) - 1
          if (left === 0) open.delete(agent_id)
          else open.set(agent_id, left)
        })
    )
}

const make = Effect.gen(function* () {
  const ids = yield* Ids
  const { sandboxRequests } = yield* DeploymentOptions
  const unlogged = yield* makeUnlogged
  const uses = yield* makeUses
  const place = makePlaces(sandboxRequests)
  const sessions = new Map<string, Session>()
  /** Those of commands that have not ended. */
  const commands = new Set<ConnectionSession>()

  const sessionWith = (agent: AgentWorkspace, type: SshType = "ssh") =>
    Effect.gen(function* () {
      const { ip = null, userAgent = "", userId } = yield* CurrentActor
      const logged: ConnectionSession = {
        connection_id: yield* ids.next,
        type,
        user_id: userId,
        ip,
        user_agent: userAgent.slice(0, maximumUserAgent),
        organization_id: agent.organization_id,
        workspace_id: agent.workspace_id,
        workspace_name: agent.workspace_name,
        workspace_owner_id: agent.owner_id,
        agent_name: agent.agent_name,
        connect_time: yield* Timestamp.now,
        disconnect_time: null
      }
      return logged
    })

  const command = (agent: AgentWorkspace, type?: SshType) =>
    Effect.flatMap(sessionWith(agent, type), (logged) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          commands.add(logged)
          unlogged.log(logged)
        }),
        () =>
          Effect.suspend(() => {
            commands.delete(logged)
            return unlogged.end(logged)
          })
      )
    )

  /** One of the requests that are a session together. */
  const request = (agent: AgentWorkspace) =>
    Effect.gen(function* () {
      const logged = yield* sessionWith(agent)
      const key = JSON.stringify([agent.agent_id, logged.user_id, logged.ip, logged.user_agent])
      if (!sessions.has(key) && sessions.size >= capacity) return yield* command(agent)
      yield* Effect.acquireRelease(
        // Found and added in one step, so that two requests at once are one session
        Effect.sync(() => {
          const known = sessions.get(key)
          if (known !== undefined) {
            known.open += 1
            return known
          }
          const session: Session = { logged, open: 1, last: 0 }
          sessions.set(key, session)
          unlogged.log(logged)
          return session
        }),
        (session) =>
          Effect.map(Clock.currentTimeMillis, (now) => {
            session.open -= 1
            session.last = now
          })
      )
    })

  const sweep = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    for (const [key, { last, logged, open }] of sessions) {
      if (open > 0 || now - last < idleTime) continue
      sessions.delete(key)
      yield* unlogged.end(logged)
    }
  })

  /** No other replica knows of these sessions: they would stay open in the log. */
  const endAll = Effect.suspend(() => {
    const left = [...Array.from(sessions.values(), ({ logged }) => logged), ...commands]
    return Effect.zipRight(Effect.forEach(left, unlogged.end, { discard: true }), unlogged.write)
  })
  const lastly = Effect.forEach([uses.report, endAll], (last) => Effect.ignoreLogged(Effect.sandbox(last)), {
    concurrency: 2,
    discard: true
  })
  yield* Effect.addFinalizer(() => Background.leftAfter("15 seconds")(lastly))
  const tidy = Effect.zipRight(sweep, uses.report)
  yield* startUnlessManual("machine_sessions", tidy, Background.repeat("machine_sessions", Effect.delay(tidy, reportInterval)))
  yield* Background.repeat("machine_session_log", Effect.zipRight(unlogged.some, Effect.delay(unlogged.write, loggedWithin)))

  return {
    begin: (agent: AgentWorkspace, kind: SessionKind) =>
      Effect.zipRight(Effect.zipRight(place(agent), uses.use(agent)), kind === "command" ? command(agent) : request(agent)),

    connect: (agent: AgentWorkspace, type: SshType) => Effect.asVoid(Effect.zipRight(uses.use(agent), command(agent, type)))
  }
})

export class MachineSessions extends Context.Tag("@atelier/core/MachineSessions")<MachineSessions, MachineSessionsService>() {
  static readonly layer = standingOn(service(MachineSessions, make), ConnectionLogs.layer)
}
