import type { LinkTokenSealing } from "./LinkTokenSealing.js"
import { Duration, Effect, Option, Schedule } from "effect"
import { whileUnavailable } from "../../platform/store/StoreUnavailable.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import type { ProviderTokens } from "./UserLink.js"
import type { SealedLink, UserLinkRepository } from "./UserLinkRepository.js"
import type { Stored } from "./LinkTokenSealing.js"

/** How long storing new tokens is retried while the store is unavailable: the provider gives them once. */
const storing = Schedule.exponential("250 millis").pipe(
  Schedule.modifyDelay((_, delay) => Duration.min(delay, "2 seconds")),
  Schedule.upTo("30 seconds")
)

interface Needs {
  readonly seal: LinkTokenSealing["seal"]
  readonly repository: UserLinkRepository["Type"]
  readonly stored: LinkTokenSealing["stored"]
}

/** The storing of renewed tokens, unless another replica has stored others. */
export const linkTokenReplacement = ({ seal, repository, stored }: Needs) => {
  /**
   * Replaces stored tokens with those of the provider's answer, also if they have been encrypted anew since they were read. Does nothing once a
   * login or another process has stored other tokens.
   */
  const replace = (link: SealedLink, sent: typeof Stored.Type, tokens: ProviderTokens) =>
    Effect.gen(function* () {
      let from = link.value
      while (true) {
        const updated_at = yield* Timestamp.now
        const to = { oauth_expiry: tokens.expires_at, updated_at, value: yield* seal(link, tokens) }
        if (yield* repository.replaceTokens(link.id, from, to)) return
        const present = Option.getOrUndefined(yield* repository.sealedOf(link.user_id, link.login_type))
        if (present === undefined || present.id !== link.id) return
        const found = Option.getOrUndefined(yield* stored(present))
        if (found?.access_token !== sent.access_token || ![sent.refresh_token, ""].includes(found.refresh_token)) return
        from = present.value
      }
    }).pipe(whileUnavailable(storing))

  return { replace }
}
