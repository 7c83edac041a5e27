/** The endpoint middlewares of `contract/authentication.ts`: they judge what the pipeline found out about the credential. */
import { Forbidden, existing, service, together, Unauthenticated } from "@atelier/core/platform"
import type { Actor } from "@atelier/core/access"
import { Context, Effect, Option, Redacted } from "effect"
import { AgentAuthenticated, Authenticated, OptionallyAuthenticated, UserOrAgentAuthenticated } from "../../contract/authentication.js"
import { AgentCredentials } from "./Credentials.js"
import { CurrentRequest, type RequestInfo } from "../request/CurrentRequest.js"

/** The refusal of a request without a credential. */
export const anonymous = new Unauthenticated({
  message: "You are signed out or your session has expired. Please sign in again to continue."
})
const unknown = new Unauthenticated({ message: "The credential is not valid." })

const refused = <E extends Unauthenticated | Forbidden>(info: RequestInfo, error: E): Effect.Effect<never, E> => {
  info.refused = error
  return Effect.fail(error)
}

/** The user of a request, or why it has none. */
export const userOf = (info: RequestInfo): Effect.Effect<Actor, Unauthenticated | Forbidden> => {
  if (info.user === undefined) return refused(info, info.credential === undefined ? anonymous : unknown)
  return info.user._tag === "Left" ? refused(info, info.user.left) : Effect.succeed(info.user.right)
}

/** Judges the caller of endpoints of users. One step of the fiber instead of three. */
export const asUser: Effect.Effect<Actor, Unauthenticated | Forbidden> = Effect.withFiberRuntime(({ currentContext }) =>
  userOf(Context.unsafeGet(currentContext, CurrentRequest))
)

const asAgent = (agents: AgentCredentials["Type"]): Effect.Effect<Actor, Unauthenticated> =>
  Effect.flatMap(CurrentRequest, (info) => {
    if (info.credential === undefined) return refused(info, anonymous)
    const call = { ip: info.ip, userAgent: info.userAgent, requestId: info.id }
    return Effect.catchAll(agents.authenticate(Redacted.make(info.credential), call), (error) => refused(info, error))
  })

/** For endpoints of users. */
export const layerUsers = together(
  existing(Authenticated, asUser),
  existing(
    OptionallyAuthenticated,
    Effect.map(CurrentRequest, ({ user }) => (user?._tag === "Right" ? Option.some(user.right) : Option.none()))
  )
)

/** For endpoints of agents too. */
export const layerAgents = together(
  service(AgentAuthenticated, Effect.map(AgentCredentials, asAgent)),
  service(
    UserOrAgentAuthenticated,
    Effect.map(AgentCredentials, (agents) => Effect.flatMap(CurrentRequest, ({ user }) => (user === undefined ? asAgent(agents) : asUser)))
  )
)
