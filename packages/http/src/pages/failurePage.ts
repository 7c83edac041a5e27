/** What browsers see in place of a page that fails. */
import { Effect } from "effect"
import type { Unrouted } from "../server/pipeline/Unrouted.js"
import { Settings } from "../server/request/Settings.js"
import { responseOf, statusOf } from "../wire/errors.js"
import { appPage } from "./appPage.js"
import { brandOf, brandOfHost } from "./brandOf.js"
import { type HostPages, pagesOf } from "./PageOptions.js"
import { text } from "./text.js"

/** The page; undefined where the host turns the pages off. A store that has failed is not asked for the brand. */
export const failurePage = (options: HostPages): Effect.Effect<Unrouted["failure"], never, Effect.Effect.Context<typeof brandOf>> =>
  Effect.map(Effect.all([Settings, brandOf]), ([settings, brandOfPages]) =>
    pagesOf(options) === undefined
      ? undefined
      : (failure) => {
          const { detail, message } = responseOf(failure)
          const isDefect = failure._tag === "InternalError"
          const ofHost = Effect.succeed(brandOfHost(settings))
          return Effect.map(isDefect ? Effect.catchAllCause(brandOfPages, () => ofHost) : ofHost, (brand) =>
            appPage(settings, brand, {
              status: statusOf(failure),
              title: isDefect ? text.failed : text.unavailable,
              message: [message, detail ?? []].flat().join(" "),
              retry: true
            })
          )
        }
  )
