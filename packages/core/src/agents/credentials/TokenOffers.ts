/** Port: gives running agents new tokens, over their connections to any process of the service. agents-and-apps.md §17. */
import { Context, Effect, type Option, type Redacted, type Scope } from "effect"
import type { Uuid } from "../../platform/texts/Uuid.js"

/** An agent keeps a token that is not valid yet. */
export interface KeptToken {
  /** Tells the agent that its token is valid now, and waits for a while until it works with it. False where it does not say so. */
  readonly use: Effect.Effect<boolean>
}

export class TokenOffers extends Context.Reference<TokenOffers>()("@atelier/core/TokenOffers", {
  defaultValue: (): {
    /** Offers an agent a token. None unless the agent is connected, knows such offers, and says within a second that it keeps the token. */
    readonly offer: (
      agent: { readonly agent_id: Uuid; readonly workspace_id: Uuid },
      token: Redacted.Redacted<string>
    ) => Effect.Effect<Option.Option<KeptToken>, never, Scope.Scope>
  } => ({ offer: () => Effect.succeedNone })
}) {}
