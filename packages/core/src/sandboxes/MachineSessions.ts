/** Sessions of the service's users with the machines of agents: what the connection log and the workspace's deadline learn of them. */
import { Clock, Context, Effect, Scope } from "effect"
import { CurrentActor } from "../access/actors/Actor.js"
import { TooManyStreams } from "../access/streams/StreamRights.js"
import { type AgentWorkspace, isPrebuilt } from "../agents/AgentWorkspace.js"
import { ActivityReports } from "../agents/reports/ActivityReports.js"
import { DeploymentOptions } from "../deployment/options/DeploymentOptions.js"
import type { ConnectionSession } from "../logs/ConnectionLog.js"
import { ConnectionLogs } from "../logs/ConnectionLogs.js"
import * as Background from "../platform/background/Background.js"
import { Ids } from "../platform/Ids.js"
import * as Timestamp from "../platform/time/Timestamp.js"
import { service, standingOn } from "../platform/wiring/Standing.js"

/** How often use is reported, as the use of apps and terminals is. */
const reportInterval = "30 seconds"

/** Milliseconds without a request after which a session of many short requests is over. */
const idleTime = 60_000

/** Sessions of short requests that this process remembers. The requests of others are a session each. */
const capacity = 10_000

/** Characters of a user agent by which sessions differ. */
const maximumUserAgent = 256

/**
 * How a request is logged: a `command` is a session of its own; `requests` of one user and program to one agent are one session, until none has come
 * for a minute.
 */
export type SessionKind = "command" | "requests"

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
   * Begins a request of the actor, which ends with the scope. It counts as a use of the workspace, and reaches the connection log without a wait for the
   * store. Fails with `TooManyStreams` if the agent has as many requests open as it may.
   */
  readonly begin: (agent: AgentWorkspace, kind: SessionKind) => Effect.Effect<void, TooManyStreams, CurrentActor | Scope.Scope>
}

const make = Effect.gen(function* () {
  const connections = yield* ConnectionLogs
  const activity = yield* ActivityReports
  const ids = yield* Ids
  const { sandboxRequests } = yield* DeploymentOptions
  const sessions = new Map<string, Session>()
  const open = new Map<string, number>()
  let used = new Map<AgentWorkspace["workspace_id"], Use>()

  const sessionWith = (agent: AgentWorkspace) =>
    Effect.gen(function* () {
      const { ip = null, userAgent = "", userId } = yield* CurrentActor
      const logged: ConnectionSession = {
        connection_id: yield* ids.next,
        type: "ssh",
        user_id: userId,
        ip,
        user_agent: userAgent.slice(0, maximumUserAgent),
        organization_id: agent.organization_id,
        workspace_id: agent.workspace_id,
        workspace_name: agent.workspace_name,
        workspace_owner_id: agent.owner_id,
        agent_name: agent.agent_name,
        connect_time: yield* Timestamp.now
      }
      return logged
    })

  const ended = (logged: ConnectionSession) => Effect.flatMap(Timestamp.now, (now) => connections.noteSession(logged, now))

  const command = (agent: AgentWorkspace) =>
    Effect.flatMap(sessionWith(agent), (logged) => Effect.acquireRelease(connections.noteSession(logged), () => ended(logged)))

  /** One of the requests that are a session together. */
  const request = (agent: AgentWorkspace) =>
    Effect.gen(function* () {
      const logged = yield* sessionWith(agent)
      const key = JSON.stringify([agent.agent_id, logged.user_id, logged.ip, logged.user_agent])
      if (!sessions.has(key) && sessions.size >= capacity) return yield* command(agent)
      yield* Effect.acquireRelease(
        // Found and added in one step, so that two requests at once are one session
        Effect.suspend(() => {
          const known = sessions.get(key)
          if (known !== undefined) {
            known.open += 1
            return Effect.succeed(known)
          }
          const session: Session = { logged, open: 1, last: 0 }
          sessions.set(key, session)
          return Effect.as(connections.noteSession(logged), session)
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
      yield* ended(logged)
    }
  })

  const report = Effect.gen(function* () {
    const reported = used
    used = new Map(Array.from(reported).filter(([, { open }]) => open > 0))
    yield* Effect.forEach(
      reported,
      ([id, { isPrebuilt }]) =>
        Effect.zipRight(activity.markUsed(id), isPrebuilt ? Effect.void : activity.bump(id, { considerAutostart: true })),
      { discard: true }
    )
  })

  const use = (agent: AgentWorkspace) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const known = used.get(agent.workspace_id) ?? { isPrebuilt: isPrebuilt(agent), open: 0 }
        known.open += 1
        used.set(agent.workspace_id, known)
        return known
      }),
      (known) => Effect.sync(() => void (known.open -= 1))
    )

  const place = ({ agent_id }: AgentWorkspace) =>
    Effect.acquireRelease(
      Effect.suspend(() => {
        const count = open.get(agent_id) ?? 0
        if (count >= sandboxRequests) {
          return new TooManyStreams({
            message: `The workspace's agent has ${sandboxRequests} requests for its processes and files open, and may have no more.`
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

  yield* Effect.addFinalizer(() => Effect.timeoutOption(Effect.disconnect(Effect.ignoreLogged(Effect.sandbox(report))), "15 seconds"))
  yield* Background.repeat("machine_sessions", Effect.delay(Effect.zipRight(sweep, report), reportInterval))

  return {
    begin: (agent: AgentWorkspace, kind: SessionKind) =>
      Effect.zipRight(Effect.zipRight(place(agent), use(agent)), kind === "command" ? command(agent) : request(agent))
  }
})

export class MachineSessions extends Context.Tag("@atelier/core/MachineSessions")<MachineSessions, MachineSessionsService>() {
  static readonly layer = standingOn(service(MachineSessions, make), ConnectionLogs.layer)
}
