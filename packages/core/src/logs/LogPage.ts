/** Pages of the audit and the connection log: counted up to a cap, as neither is bounded. notifications-audit-insights.md §B5. */
import { Effect } from "effect"
import type { Organizations } from "../organizations/Organizations.js"
import { Invalid } from "../platform/Errors.js"
import type { Page } from "../platform/lists/Pagination.js"

/** A `count` above it means "more". */
export const countCap = 2000

/** Entries of a page without a limit. */
const usualLimit = 100

/** Entries of a page, whatever its limit: a larger one would be held in memory. */
const maximumLimit = 10_000

/** The part of a log that a page asks for. */
export const logPart = ({ limit, offset }: Page): { readonly limit: number; readonly offset: number } => ({
  limit: Math.min(limit === 0 ? usualLimit : limit, maximumLimit),
  offset
})

/** The organization that a filter names, by id or name. Fails with `Invalid` where the actor may not read it. */
export const filteredOrganization = (organizations: Organizations["Type"], reference: string | undefined) =>
  reference === undefined
    ? Effect.succeed(undefined)
    : Effect.mapBoth(organizations.get(reference), {
        onFailure: () => Invalid.field("organization", `"${reference}" does not exist`, "Invalid search query"),
        onSuccess: ({ id }) => id
      })
