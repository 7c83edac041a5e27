/** What browsers see at an address that has no page. */
import { Effect } from "effect"
import { Settings } from "../server/request/Settings.js"
import { brandOf } from "./brandOf.js"
import { escaped, page } from "./page.js"
import { type HostPages, pagesOf } from "./PageOptions.js"
import { text } from "./text.js"

/** The page; undefined where the host turns the pages off. */
export const lostPage = (options: HostPages) =>
  Effect.map(Effect.all([Settings, brandOf]), ([settings, brand]) =>
    pagesOf(options) === undefined
      ? undefined
      : Effect.map(brand, (as) =>
          page(settings, as, {
            title: text.pageMissing,
            status: 404,
            content: `<p>${text.pageMissingReason}</p>\n<p><a href="${escaped(`${settings.accessUrl}/`)}">${text.backToService}</a></p>`
          })
        )
  )
