/** Offers agents tokens over streams to them. agents-and-apps.md §17. */
import { TokenOffer } from "@atelier/agent-protocol"
import { TokenOffers } from "@atelier/core/agents"
import { AgentDialer, tokenPort } from "@atelier/core/network"
import { service } from "@atelier/core/platform"
import { Effect } from "effect"

/** How long an agent may take to say that it keeps a token: it is connected and has nothing else to do. */
const keptWithin = "1 second"

export const layer = service(
  TokenOffers,
  Effect.map(AgentDialer, ({ dial }) => ({
    offer: (agent, token) =>
      dial({ ...agent, port: tokenPort }).pipe(
        Effect.flatMap((stream) => TokenOffer.offer(stream, token)),
        Effect.timeout(keptWithin),
        Effect.tapError(({ message }) => Effect.logDebug(`an agent does not keep another token: ${message}`)),
        Effect.map((use) => ({
          use: Effect.match(use, { onSuccess: () => true, onFailure: () => false })
        })),
        Effect.option
      )
  }))
)
