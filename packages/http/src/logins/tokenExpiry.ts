import { Timestamp } from "@atelier/core/platform"

/** The longest lifetime of a token that is stored, in seconds: ten years. */
const longestLifetime = 315_360_000

/** Returns when a provider's token ends that lasts so many seconds from an instant. */
export const tokenExpiry = (from: Timestamp.Timestamp, seconds: number): Timestamp.Timestamp =>
  Timestamp.plus(from, `${Math.min(seconds, longestLifetime)} seconds`)
