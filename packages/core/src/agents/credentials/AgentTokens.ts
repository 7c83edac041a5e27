import { Context, Effect, Option, Redacted } from "effect"
import { Encryption, type Sealed } from "../../platform/secrets/Encryption.js"
import { openRow, type SealedColumn, type SealedRow } from "../../platform/store/Resealing.js"
import type { Uuid } from "../../platform/texts/Uuid.js"
import { BuildResourceRepository } from "../resources/BuildResourceRepository.js"
import * as Traced from "../../platform/wiring/Traced.js"
import { service } from "../../platform/wiring/Standing.js"

/** The resource that stands for an agent which runs elsewhere. templates-and-provisioning.md §6.9. */
export const externalAgentType = "coder_external_agent"

/** An agent that its users start, on a machine that the template does not make. */
export interface ExternalAgent {
  readonly operating_system: string
  readonly architecture: string
  readonly token: Redacted.Redacted<string>
}

/** The agent's id is authenticated with its token. */
const placeOf: SealedColumn["placeOf"] = ({ id }) => `workspace_agents.sealed_token/${id}`

/** The methods of {@link AgentTokens}. */
export interface AgentTokensService {
  readonly column: SealedColumn

  /** A stored token; None if no key of the deployment opens it. */
  readonly open: (token: SealedRow) => Effect.Effect<Option.Option<Redacted.Redacted<string>>>

  /** A token as the row of its agent stores it. */
  readonly seal: (id: Uuid, token: string) => Effect.Effect<Sealed>

  /** The external agent of this name that a job made, unless it is deleted or no key of the deployment opens its token. */
  readonly external: (jobId: Uuid, name: string) => Effect.Effect<Option.Option<ExternalAgent>>
}

const make = Effect.gen(function* () {
  const repository = yield* BuildResourceRepository
  const encryption = yield* Encryption

  const column: SealedColumn = {
    name: "the token of an agent",
    placeOf,
    sealedOtherwise: repository.tokensSealedOtherwise,
    reseal: repository.resealToken
  }

  const open = (token: SealedRow) =>
    Effect.map(
      openRow(encryption, column, token),
      Option.map((opened) => Redacted.make(new TextDecoder().decode(opened)))
    )

  return {
    column,
    open,

    seal: (id: Uuid, token: string): Effect.Effect<Sealed> =>
      encryption.seal(new TextEncoder().encode(token), placeOf({ id, user_id: id })),

    external: Traced.fn("AgentTokens.external")(function* (jobId: Uuid, name: string) {
      const found = Option.getOrUndefined(yield* repository.externalAgent(jobId, name))
      if (found === undefined) return Option.none<ExternalAgent>()
      const { architecture, operating_system, token } = found
      return Option.map(yield* open(token), (opened): ExternalAgent => ({ operating_system, architecture, token: opened }))
    })
  }
})

/**
 * The tokens of agents that are given out later: users are shown those of external agents, and instances of clouds ask for their own. They are
 * stored encrypted beside their hashes.
 */
export class AgentTokens extends Context.Tag("@atelier/core/AgentTokens")<AgentTokens, AgentTokensService>() {
  static readonly layer = service(AgentTokens, make)
}
