/** How users come to be active, dormant and suspended. Everything here is pure. identity.md §9. */
import type { UserStatus } from "./User.js"

/**
 * Events of a user's status. `see`: it logs in or sends a request. `lapse`: it was not seen for a long time. `suspend` and `activate`: an
 * administrator changes its status. `reinstate`: an identity provider admits it again, without the user being seen.
 */
export type UserEvent = "see" | "lapse" | "activate" | "suspend" | "reinstate"

/** The status that each event leads to; an event that is not listed is refused. Suspending and activating again is allowed. */
export const statusTransitions = {
  active: { see: "active", lapse: "dormant", activate: "active", suspend: "suspended", reinstate: "active" },
  dormant: { see: "active", activate: "active", suspend: "suspended", reinstate: "dormant" },
  suspended: { activate: "active", suspend: "suspended", reinstate: "dormant" }
} as const satisfies Record<UserStatus, Partial<Record<UserEvent, UserStatus>>>

/** The status after an event, or undefined if the status does not allow the event. */
export const statusAfter = (status: UserStatus, event: UserEvent): UserStatus | undefined => {
  const allowed: Partial<Record<UserEvent, UserStatus>> = statusTransitions[status]
  return allowed[event]
}
