/** The agents of machines: each connects to any replica, and again when its connection has ended. */
import { Access } from "@atelier/core/access"
import { AgentConnections, AgentReports, AgentSessions } from "@atelier/core/agents"
import { Deferred, Effect, Redacted } from "effect"
import type { Deployment, Replica } from "./Replica.js"
import type { Machine } from "./SimulatedEngine.js"

/** Milliseconds between two attempts of an agent to connect. */
const retryAfter = 1_500

interface Connection {
  readonly machine: Machine
  readonly replica: Replica
  readonly since: number
}

export interface Agents {
  /** Connections that have been open since before an instant, by the tokens of their agents. */
  readonly connectedSince: (at: number) => ReadonlyArray<string>
}

/** Works as an agent does until the connection has to end. */
const connection = (token: string, isConnected: () => void) =>
  Effect.gen(function* () {
    const sessions = yield* AgentSessions
    const connections = yield* AgentConnections
    const actor = yield* sessions.authenticate(Redacted.make(token), {})
    const work = Effect.gen(function* () {
      const [, agent] = yield* sessions.rightToConnect
      const reports = (yield* AgentReports).of(agent)
      const reporting = Effect.gen(function* () {
        isConnected()
        yield* Effect.retry(reports.lifecycle({ state: "starting", changed_at: undefined }), { times: 3 })
        yield* Effect.sleep("200 millis")
        yield* Effect.retry(reports.lifecycle({ state: "ready", changed_at: undefined }), { times: 3 })
        yield* Effect.never
      })
      const retired = yield* Deferred.make<void>()
      yield* connections.connect(
        () => agent,
        Effect.sleep("5 millis"),
        () => Deferred.unsafeDone(retired, Effect.void)
      )
      yield* Effect.raceFirst(Deferred.await(retired), reporting)
    }).pipe(Effect.scoped)
    yield* Access.actingAs(actor)(work)
  })

/** Starts an agent for each machine. */
export const startAgents = ({ chance, machines, world }: Deployment, replicas: () => ReadonlyArray<Replica>): Agents => {
  const connected = new Map<string, Connection>()
  const busy = new Set<string>()

  const look = (): void => {
    for (const machine of machines.values()) {
      const { token } = machine
      const known = connected.get(token)
      if (known !== undefined && !known.replica.process.isAlive) {
        connected.delete(token)
        busy.delete(token)
      }
      if (busy.has(token)) continue
      const alive = replicas().filter(({ context, process }) => process.isAlive && context !== undefined)
      const replica = alive[chance.below(Math.max(1, alive.length))]
      if (replica === undefined) continue
      busy.add(token)
      const own: Connection = { machine, replica, since: world.now() }
      connected.set(token, own)
      replica.run(
        connection(token, () => {}),
        () => {
          if (connected.get(token) === own) connected.delete(token)
          busy.delete(token)
        }
      )
    }
    world.after(retryAfter, look)
  }
  world.after(retryAfter, look)

  return {
    connectedSince: (at) =>
      [...connected.values()].flatMap(({ machine, replica, since }) =>
        since <= at && replica.process.isAlive && machines.get(machine.workspaceId)?.token === machine.token ? [machine.token] : []
      )
  }
}
