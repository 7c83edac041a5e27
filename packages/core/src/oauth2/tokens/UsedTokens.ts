import { Context, Duration, Effect } from "effect"
import { service } from "../../platform/wiring/Standing.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { Worker } from "../../platform/background/Worker.js"
import { hashText } from "./OAuthSecret.js"
import { UsedTokenRepository } from "./UsedTokenRepository.js"
import { purgeExpired } from "../WaitingRows.js"
import type { Cryptography } from "../../platform/secrets/Cryptography.js"

/** Clocks of replicas differ by a little: an id is kept for longer than any of them takes the text. */
const leeway = Duration.minutes(5)

/** The methods of {@link UsedTokens}. */
export interface UsedTokensService {
  /** Notes that a signed text is used. False when it was used before. `holder` keeps the ids of different signers apart. */
  readonly use: (holder: string, id: string, expiresAt: Timestamp.Timestamp) => Effect.Effect<boolean, never, Cryptography>

  /** Deletes what has expired. */
  readonly purge: Worker<never>
}

const make = Effect.gen(function* () {
  const repository = yield* UsedTokenRepository

  return {
    use: (holder: string, id: string, expiresAt: Timestamp.Timestamp) =>
      Effect.flatMap(hashText(JSON.stringify([holder, id])), (hashed) => repository.use(hashed, Timestamp.plus(expiresAt, leeway))),

    purge: {
      name: "purge-oauth2-used-tokens",
      every: "1 minute",
      run: Effect.flatMap(Timestamp.now, (now) => purgeExpired(repository, now))
    } satisfies Worker<never>
  }
})

/** Signed texts that clients may use once: assertions (RFC 7523) and proofs of possession (RFC 9449). */
export class UsedTokens extends Context.Tag("@atelier/core/UsedTokens")<UsedTokens, UsedTokensService>() {
  static readonly layer = service(UsedTokens, make)
}
