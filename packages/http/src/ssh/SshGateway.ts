/** SSH for clients of their own: users log in by their public keys, and are led to the agent of a workspace. agents-and-apps.md §17c. */
import { Access, StreamRights } from "@atelier/core/access"
import { SshKeys } from "@atelier/core/identity"
import { AgentDialer, AgentUnreachable, sshPorts } from "@atelier/core/network"
import { MachineAccess, MachineSessions, SshLogins } from "@atelier/core/sandboxes"
import { GatewayKey } from "@atelier/core/workspaces"
import { agentSocket } from "@atelier/node"
import { Cause, Effect, FiberSet, Option, Redacted, Runtime, type Scope } from "effect"
import type { Socket } from "node:net"
import { Draining } from "../server/operate/Draining.js"
import { makeWindow, network } from "../server/request/RateLimiter.js"
import { Settings } from "../server/request/Settings.js"
import type { Admission, Login } from "./server.js"

/** Connections of one address in a minute. */
const maximumPerMinute = 60

/** Connections that are not logged in yet, of one address and of all. */
const maximumEntering = 10
const maximumEnteringOfAll = 200

/** How long reaching the agent may take. */
const reachWithin = "30 seconds"

type Refused = AgentUnreachable | Effect.Effect.Error<ReturnType<MachineAccess["Type"]["refuseUnreached"]>>

const unanswered = new AgentUnreachable({ message: "The workspace's agent does not answer." })

export interface SshGateway {
  /** Serves a connection of a client. It ends with the right to the workspace, with the user's key, and when the service ends. */
  readonly serve: (socket: Socket) => void
}

/** Loads the library with the first connection: most deployments have no gateway, so a host installs it for one. */
const loaded = Effect.tryPromise({
  try: () => import("./server.js"),
  catch: (cause) => new Error("SSH for clients needs the package ssh2: npm install ssh2", { cause })
})

/** Counts connections until they are logged in. */
const makeEntrances = (isLimited: boolean) => {
  const window = makeWindow(maximumPerMinute)
  const entering = new Map<string, number>()
  let all = 0
  return {
    /** Returns how a place is given back; undefined if all places are taken. */
    take: (ip: string): (() => void) | undefined => {
      const address = network(ip)
      const own = entering.get(address) ?? 0
      if (all >= maximumEnteringOfAll || own >= maximumEntering) return undefined
      if (isLimited && !window.count(address, Date.now()).allowed) return undefined
      all += 1
      entering.set(address, own + 1)
      let isTaken = true
      return () => {
        if (!isTaken) return
        isTaken = false
        all -= 1
        const left = (entering.get(address) ?? 1) - 1
        if (left === 0) entering.delete(address)
        else entering.set(address, left)
      }
    }
  }
}

export const make = Effect.gen(function* () {
  const keys = yield* SshKeys
  const logins = yield* SshLogins
  const access = yield* MachineAccess
  const sessions = yield* MachineSessions
  const rights = yield* StreamRights
  const gatewayKey = yield* GatewayKey
  const draining = yield* Draining
  const { dial } = yield* AgentDialer
  const { rateLimit } = yield* Settings
  const entrances = makeEntrances(!rateLimit.disableAll)
  const runFork = yield* FiberSet.makeRuntime<never>()

  /** Opens a stream to the agent that a login name means, for as long as the scope and the right to it last. */
  const streamTo = (name: string, socket: Socket) =>
    Effect.gen(function* () {
      const id = yield* logins.agentOf(name)
      const [right, agent] = yield* access.open(id)
      const { agent_id, workspace_id } = agent
      const dialing = access.reach(agent, dial({ agent_id, workspace_id, port: sshPorts.ssh }))
      const stream = yield* Effect.timeoutFail(dialing, { duration: reachWithin, onTimeout: () => unanswered }).pipe(
        Effect.catchAll((error): Effect.Effect<never, Refused> =>
          error.reason === "busy" ? error : access.refuseUnreached(agent_id, error)
        )
      )
      yield* rights.hold(right, () => socket.destroy())
      yield* sessions.connect(agent, "ssh")
      return yield* agentSocket(stream)
    })

  const admission = ({ client, key, name }: Login, ip: string, socket: Socket): Effect.Effect<Admission | undefined, never, Scope.Scope> =>
    Effect.gen(function* () {
      const actor = yield* Effect.option(keys.authenticate(key, { ip, userAgent: client }))
      if (Option.isNone(actor)) return undefined
      return yield* streamTo(name, socket).pipe(
        Effect.map((agent): Admission => ({ agent })),
        Effect.catchAll(({ message }) => Effect.succeed<Admission>({ refusal: message })),
        Access.actingAs(actor.value)
      )
    }).pipe(Effect.tapErrorCause((cause) => Effect.logError("an SSH client cannot be logged in", Cause.squash(cause))))

  const connection = (socket: Socket, leave: () => void) =>
    Effect.gen(function* () {
      yield* Effect.addFinalizer(() => Effect.sync(() => socket.destroy()))
      const { remoteAddress = "" } = socket
      const { serve } = yield* loaded
      const hostKey = Redacted.value(yield* gatewayKey.key)
      const run = Runtime.runPromise(yield* Effect.runtime<Scope.Scope>())
      const admit = async (login: Login): Promise<Admission | undefined> => {
        const admitted = await run(admission(login, remoteAddress, socket))
        if (admitted !== undefined) leave()
        return admitted
      }
      yield* Effect.raceFirst(
        Effect.promise(() => serve(socket, { hostKey, admit })),
        draining.begun
      )
    }).pipe(
      Effect.scoped,
      Effect.ensuring(Effect.sync(leave)),
      Effect.catchAllCause((cause) =>
        Effect.zipRight(
          Effect.sync(() => socket.destroy()),
          Effect.logError("an SSH connection failed", cause)
        )
      )
    )

  return {
    serve: (socket) => {
      // No other listener may exist yet: an error of the socket would end the process
      socket.on("error", () => socket.destroy())
      const leave = entrances.take(socket.remoteAddress ?? "")
      if (leave === undefined) socket.destroy()
      else runFork(connection(socket, leave))
    }
  } satisfies SshGateway
})
