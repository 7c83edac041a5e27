/** Authentication of callers by their requests. */
import type { Actor, CallInfo } from "@atelier/core/access"
import { AgentSessions } from "@atelier/core/agents"
import { Sessions } from "@atelier/core/identity"
import { type Forbidden, service, Unauthenticated } from "@atelier/core/platform"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { Context, Effect, Redacted } from "effect"
import { ProofOfPossession } from "./proofOfPossession.js"

/** A request with a proof of possession. */
export interface Proving {
  readonly request: Pick<HttpServerRequest.HttpServerRequest, "headers">
  readonly method: string
  readonly path: string
}

/** The refusal of a request whose proof of possession is missing or wrong. */
export const proofRefused = new Unauthenticated({ message: "The DPoP proof is missing, wrong, expired or used." })

/** Credentials of users. A host with a login of its own may replace it. */
export class UserCredentials extends Context.Tag("@atelier/http/UserCredentials")<
  UserCredentials,
  {
    /** The user of a session or API token. identity.md §2.4. */
    readonly authenticate: (
      token: Redacted.Redacted<string>,
      info: CallInfo,
      /** The request, if its caller says that the token is bound to a key (RFC 9449 §7.1). */
      proving?: Proving
    ) => Effect.Effect<Actor, Unauthenticated | Forbidden>
    /** The same without an effect, where nothing has to be waited for or refused; undefined where `authenticate` has to decide. */
    readonly authenticateNow?: (token: Redacted.Redacted<string>, info: CallInfo) => Actor | undefined
  }
>() {
  /** Sessions and tokens that the service itself has issued. */
  static readonly layer = service(
    UserCredentials,
    Effect.gen(function* () {
      const sessions = yield* Sessions
      const proofs = yield* ProofOfPossession
      return UserCredentials.of({
        authenticateNow: sessions.authenticateNow,
        authenticate: (token, info, proving) =>
          proving === undefined
            ? sessions.authenticate(token, info)
            : Effect.gen(function* () {
                const { thumbprint, use } = yield* proofs.check(proving.request, { ...proving, token: Redacted.value(token) })
                const actor = yield* sessions.authenticate(token, { ...info, dpopKey: thumbprint })
                // Last: a proof is stored for holders of tokens alone
                yield* use
                return actor
              }).pipe(Effect.catchTag("BadProof", () => proofRefused))
      })
    })
  )
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
  static readonly layer = service(AgentCredentials, AgentSessions)
}
