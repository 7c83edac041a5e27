/** Serves the streams that another process of the deployment opens to an agent of this one. agents-and-apps.md §17. */
import { type ByteStream, ReverseStream, type Session, type SessionEnded } from "@atelier/agent-protocol"
import { type AgentLinksService, AgentUnreachable } from "@atelier/core/network"
import { Uuid } from "@atelier/core/platform"
import { Effect, Exit, Scope } from "effect"
import { CurrentRequest, type RequestInfo } from "../server/request/CurrentRequest.js"
import { carried } from "./carrying.js"

const left = new AgentUnreachable({ message: "The workspace's agent has no connection to the service." })

/** Whose streams they are, and the request that they have come by. */
export interface Served {
  readonly agent_id: Uuid.Uuid
  readonly links: AgentLinksService
  readonly info: RequestInfo
}

/** Opens the agent's stream, and carries bytes until both directions have ended. */
const led = (stream: ByteStream, { agent_id, info, links }: Served) =>
  Effect.gen(function* () {
    const [request, bytes] = yield* ReverseStream.requested(stream)
    if (request.kind !== "tcp") return yield* stream.reset
    // The request of the client, which the other process answers
    const origin = { ...info, id: Uuid.parse(request.request_id ?? "") ?? info.id }
    const opening = links.of(agent_id)?.open(request.port) ?? left
    const opened = yield* Effect.either(Effect.provideService(opening, CurrentRequest, origin))
    if (opened._tag === "Left") return yield* ReverseStream.unreachable(stream, opened.left.message, opened.left.reason)
    yield* ReverseStream.reached(stream)
    yield* carried(bytes, opened.right)
  }).pipe(
    Effect.scoped,
    // The other process may break it off while the agent is waited for
    Effect.raceFirst(stream.whenBroken),
    Effect.onError(() => stream.reset),
    Effect.ignore
  )

/** Serves streams until the session is over. */
export const serveStreams = (session: Session.Session, served: Served): Effect.Effect<never, SessionEnded, Scope.Scope> =>
  Effect.gen(function* () {
    const streams = yield* Effect.scope
    const next = Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const stream = yield* restore(Scope.extend(session.accept, scope)).pipe(
          Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
        )
        yield* restore(led(stream, served)).pipe(
          Effect.onExit((exit) => Scope.close(scope, exit)),
          Effect.forkIn(streams)
        )
      })
    )
    return yield* Effect.forever(next)
  })
