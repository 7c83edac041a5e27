/** Authentication of callers by their requests. */
import type { Actor, CallInfo } from "@atelier/core/access"
import { AgentSessions } from "@atelier/core/agents"
import { Sessions } from "@atelier/core/identity"
import type { Forbidden, Unauthenticated } from "@atelier/core/platform"
import { Context, Effect, Layer, type Redacted } from "effect"

/** Credentials of users. A host with a login of its own may replace it. */
export class UserCredentials extends Context.Tag("@atelier/http/UserCredentials")<
  UserCredentials,
  {
    /** The user of a session or API token. identity.md §2.4. */
    readonly authenticate: (token: Redacted.Redacted<string>, info: CallInfo) => Effect.Effect<Actor, Unauthenticated | Forbidden>
  }
>() {
  /** Sessions and tokens that the service itself has issued. */
  static readonly layer = Layer.effect(UserCredentials, Sessions)
}

/** Credentials of workspaces' agents. */
export class AgentCredentials extends Context.Tag("@atelier/http/AgentCredentials")<
  AgentCredentials,
  {
    /** The agent that a token belongs to, as long as it acts for its workspace. agents-and-apps.md §1. */
    readonly authenticate: (token: Redacted.Redacted<string>, info: CallInfo) => Effect.Effect<Actor, Unauthenticated>
  }
>() {
  /** Tokens of the agents that the service itself has stored. */
  static readonly layer = Layer.effect(AgentCredentials, AgentSessions)
}
