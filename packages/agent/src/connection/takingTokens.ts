import { Effect, type Redacted } from "effect"
import { AgentMessages, StreamReset, TokenOffer } from "@atelier/agent-protocol"
import type { Services } from "../streams/ReverseStreams.js"
import type { Tokens } from "./Tokens.js"

/** What follows from another token. */
interface Taken<E> {
  /** Is called first, when the server offers it. */
  readonly offered: () => void
  /** Connects with it. */
  readonly use: (token: Redacted.Redacted) => Effect.Effect<void>
  /** Works with its manifest, on the connection that has become its own. */
  readonly adopt: (token: Redacted.Redacted, manifest: AgentMessages.Manifest) => Effect.Effect<unknown, E>
}

/** Serves the server's offers of another token. */
export const takingTokens =
  <E extends { readonly message: string }>(tokens: Tokens, { adopt, offered, use }: Taken<E>): Services["token"] =>
  (stream, endOthers) =>
    TokenOffer.take(stream, {
      keep: (token) =>
        Effect.sync(() => {
          offered()
          tokens.keep(token)
        }),
      use,
      adopt: (token, bytes) =>
        Effect.gen(function* () {
          tokens.accept(token)
          const manifest = yield* AgentMessages.Manifest.decode(bytes)
          // The server has ended them too. They were begun for the owner before
          yield* endOthers
          yield* adopt(token, manifest)
        }).pipe(Effect.mapError(({ message }) => new StreamReset({ by: "here", message })))
    })
