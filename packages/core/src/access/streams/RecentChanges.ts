import type { Clock } from "effect"
import type { Actor } from "../actors/Actor.js"
import type { RightsChange } from "./RightsChanges.js"
import type { StreamRight } from "./StreamRights.js"

/** Milliseconds for which a change is remembered, so that a stream that was opening at the time is judged again. */
const openingTime = 10_000

/** Changes that are remembered. After more of them at once every stream that opens is judged again. */
const maximumRecent = 1_000

export const concerns = (
  { api_key_id, user_id, workspace_id }: RightsChange,
  { agentId, apiKeyId = api_key_id, userId, workspaceId }: Actor,
  right: StreamRight
): boolean => {
  if (user_id === undefined && workspace_id === undefined) return true
  if (user_id === userId && (api_key_id === undefined || apiKeyId === api_key_id)) return true
  return workspace_id !== undefined && (workspace_id === right.workspaceId || (agentId !== undefined && workspace_id === workspaceId))
}

interface Needs {
  readonly clock: Clock.Clock
}

/** The changes of rights in the last seconds, which a stream that opens may have missed. */
export const recentChanges = ({ clock }: Needs) => {
  /** Oldest first. An event that is undefined concerns every actor. */
  const recent: Array<{ readonly at: number; readonly event: RightsChange | undefined }> = []

  const remember = (event: RightsChange | undefined): void => {
    const at = clock.unsafeCurrentTimeMillis()
    const firstKept = recent.findIndex((change) => at - change.at < openingTime)
    recent.splice(0, firstKept < 0 ? recent.length : firstKept)
    if (recent.length >= maximumRecent) recent.splice(0, recent.length, { at, event: undefined })
    else recent.push({ at, event })
  }

  /** Whether a change of the last seconds may have ended a right. */
  const hasChanged = (right: StreamRight, now: number): boolean =>
    recent.some(({ at, event }) => now - at < openingTime && (event === undefined || concerns(event, right.actor, right)))

  return { remember, hasChanged }
}
