import { isZone, type RangeName, ranges } from "./range.js"

/** What the address of a screen with insights says. */
export interface UsageSearch {
  readonly range?: RangeName
  readonly zone?: string
}

/** The `validateSearch` of a route whose screen has insights. */
export const usageSearch = ({ range, zone }: Readonly<Record<string, unknown>>): UsageSearch => {
  const known = ranges.find((each) => each === range)
  return {
    ...(known === undefined ? {} : { range: known }),
    ...(typeof zone === "string" && isZone(zone) ? { zone } : {})
  }
}
