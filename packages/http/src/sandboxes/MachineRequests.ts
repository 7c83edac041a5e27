/** Leads requests to the processes and files of a workspace to its agent, and the answers back as they come. agents-and-apps.md §17. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { StreamRights, type TooManyStreams } from "@atelier/core/access"
import type { AgentWorkspace, WorkspaceAgentId } from "@atelier/core/agents"
import { DeploymentOptions } from "@atelier/core/deployment"
import { AgentDialer, type AgentUnreachable, machinePort } from "@atelier/core/network"
import { Forbidden } from "@atelier/core/platform"
import { MachineAccess, MachineSessions, type SessionKind } from "@atelier/core/sandboxes"
import { Duration, Effect, Scope } from "effect"
import { AppConnections } from "../apps/AppConnections.js"
import { bodyOf, delivered } from "../apps/delivery.js"
import { framingOf } from "../apps/appRequest.js"
import { tooLarge } from "../server/request/body.js"
import { Draining } from "../server/operate/Draining.js"
import { Heartbeat } from "../server/operate/Heartbeat.js"
import { Settings } from "../server/request/Settings.js"
import { refuseHandshake } from "../sockets/handshake.js"
import { WebSockets } from "../sockets/WebSockets.js"
import { TooManyRequests, Unavailable } from "../wire/errors.js"
import { type AnswerForm, headersOf, isPassed, refusalIn } from "./machineAnswer.js"
import { machineConnection } from "./machineConnection.js"
import { type Body, exchange } from "./machineExchange.js"
import { openMachineSocket, passMessages } from "./machineSocket.js"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** How long a request may carry nothing, as those to apps; in addition to the time of a command where it waits for one. */
const idle = Duration.minutes(10)

/** What is asked of an agent's machine. */
export interface MachineRequest {
  readonly agent: WorkspaceAgentId
  readonly kind: SessionKind
  /** The path and the query, as the agent serves them. */
  readonly path: string
}

export interface MachineCall extends MachineRequest {
  readonly method: "DELETE" | "GET" | "HEAD" | "POST" | "PUT"
  /** Sent as JSON. */
  readonly payload?: object
  /** Whether the body of the client's request is sent on as it is. */
  readonly isUpload?: boolean
  /** Headers of the client's request that are sent on, by their names in lower case. */
  readonly headers?: ReadonlyArray<string>
  readonly answer: AnswerForm
  /** Whether the agent answers when a command has ended. */
  readonly waits?: boolean
}

/** Why no stream to an agent was opened. */
type Unreached = TooManyRequests | Effect.Effect.Error<ReturnType<MachineAccess["Type"]["refuseUnreached"]>>

const busy = ({ message }: TooManyStreams) => new TooManyRequests({ message })

/** Makes what leads requests to agents. Handlers call it when they are built. */
export const machineRequests = Effect.gen(function* () {
  const access = yield* MachineAccess
  const sessions = yield* MachineSessions
  const { dial } = yield* AgentDialer
  const heartbeat = yield* Heartbeat
  const { cors } = yield* Settings
  const { sandboxCommandTime, sandboxProcesses, sandboxUploadBytes } = yield* DeploymentOptions
  const limits = {
    "x-limit-processes": String(sandboxProcesses),
    "x-limit-command-ms": String(Duration.toMillis(sandboxCommandTime))
  }

  const connections = yield* Effect.acquireRelease(
    Effect.sync(() => new AppConnections()),
    (made) => Effect.sync(() => made.destroy())
  )

  /** A connection to an agent's machine. */
  const opened = (agent: AgentWorkspace, idle: Duration.Duration) => {
    const { agent_id, workspace_id } = agent
    const made = machineConnection(access.reach(agent, dial({ agent_id, workspace_id, port: machinePort })), idle)
    return Effect.provideService(made, Heartbeat, heartbeat)
  }

  /** The connection of a request. Those of requests that wait may carry nothing for longer, and are kept for such requests. */
  const connectionOf = (agent: AgentWorkspace, { waits = false }: MachineCall) =>
    waits
      ? { agent_id: agent.agent_id, key: `${agent.agent_id} waits`, open: opened(agent, Duration.sum(idle, sandboxCommandTime)) }
      : { agent_id: agent.agent_id, key: agent.agent_id, open: opened(agent, idle) }

  const refuseUnreached =
    ({ agent_id }: AgentWorkspace) =>
    (error: AgentUnreachable): Effect.Effect<never, Unreached> =>
      error.reason === "busy" ? new TooManyRequests({ message: error.message }) : access.refuseUnreached(agent_id, error)

  const begin = (agent: AgentWorkspace, kind: SessionKind) => Effect.mapError(sessions.begin(agent, kind), busy)

  const bodyFor = (request: Request, { isUpload = false, payload }: MachineCall) =>
    Effect.gen(function* () {
      if (!isUpload) return payload === undefined ? undefined : ({ _tag: "Text", text: JSON.stringify(payload) } satisfies Body)
      const framing = framingOf(request)
      if (typeof framing === "object" && framing.length > sandboxUploadBytes) return yield* tooLarge(sandboxUploadBytes)
      return { _tag: "Stream", stream: yield* bodyOf(request), source: request.source, framing, most: sandboxUploadBytes } satisfies Body
    })

  /** Holds the right to a request. Returns how to learn that it may not go on. */
  const held = (right: Parameters<StreamRights["Type"]["hold"]>[0]) =>
    Effect.gen(function* () {
      const { hold } = yield* StreamRights
      const draining = yield* Draining
      let over: Forbidden | Unavailable | undefined
      let refuse: (refusal: Forbidden | Unavailable) => void = () => undefined
      const end = (refusal: Forbidden | Unavailable): void => {
        if (over !== undefined) return
        over = refusal
        refuse(refusal)
      }
      yield* Effect.mapError(
        hold(right, ({ message }) => end(new Forbidden({ message }))),
        busy
      )
      const scope = yield* Effect.scope
      const leave = draining.onBegin(() => end(new Unavailable({ message: "The service is shutting down." })))
      yield* Scope.addFinalizer(scope, Effect.sync(leave))
      // A race with a fiber that waits for the end takes 0.2 ms of each request
      return (call: typeof refuse): void => {
        refuse = call
        if (over !== undefined) call(over)
      }
    })

  return {
    /** Makes a request to an agent's machine as the actor, and answers the client with the agent's answer. */
    call: (request: Request, asked: MachineCall) =>
      Effect.gen(function* () {
        const [right, agent] = yield* access.open(asked.agent)
        yield* begin(agent, asked.kind)
        const whenOver = yield* held(right)
        const body = yield* bodyFor(request, asked)
        const headers = Object.fromEntries(
          (asked.headers ?? []).flatMap((name) => {
            const value = request.headers[name]
            return value === undefined ? [] : [[name, value]]
          })
        )
        const response = yield* exchange({
          method: asked.method,
          path: asked.path,
          headers: { ...headers, ...limits },
          body,
          connections,
          connection: connectionOf(agent, asked),
          whenOver
        }).pipe(Effect.catchTag("AgentUnreachable", refuseUnreached(agent)))
        if (isPassed(response)) {
          const { statusCode: status = 502 } = response
          return delivered(request, headersOf(response, asked.answer), { status, body: response })
        }
        return yield* refusalIn(response)
      }),

    /** Opens a WebSocket of an agent's machine as the actor, and passes its messages on in both directions. */
    socket: (request: Request, asked: MachineRequest) =>
      Effect.gen(function* () {
        const [right, agent] = yield* access.open(asked.agent)
        const refused = refuseHandshake(request, [], cors.origins)
        if (refused !== undefined) return refused
        yield* begin(agent, asked.kind)
        const connection = yield* Effect.catchAll(opened(agent, Duration.infinity), refuseUnreached(agent))
        const answer = yield* openMachineSocket(connection, asked.path, limits)
        if (answer._tag === "Refused") return yield* refusalIn(answer.response)
        const { serve } = yield* WebSockets
        const response: Response = yield* serve(request, right, (client) => passMessages(client, answer.machine), {
          sendWithin: "60 seconds"
        })
        return response
      })
  }
})

/** The result of {@link machineRequests}. */
export type MachineRequests = Effect.Effect.Success<typeof machineRequests>
