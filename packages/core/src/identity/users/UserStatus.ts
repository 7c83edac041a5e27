/** How users come to be active, dormant and suspended. Everything here is pure. identity.md §9. */
import type { UserStatus } from "./User.js"

/**
 * What happens to a user: it is seen, with a login or any request; nobody has seen it for long; those who manage users suspend or
 * activate it; an identity provider reinstates it, which lets it come in again without its having come.
 */
export type UserEvent = "see" | "lapse" | "activate" | "suspend" | "reinstate"

/** The status each event leads to; what is not listed is refused. Suspending and activating again is allowed. */
export const statusTransitions = {
  active: { see: "active", lapse: "dormant", activate: "active", suspend: "suspended", reinstate: "active" },
  dormant: { see: "active", activate: "active", suspend: "suspended", reinstate: "dormant" },
  suspended: { activate: "active", suspend: "suspended", reinstate: "dormant" }
} as const satisfies Record<UserStatus, Partial<Record<UserEvent, UserStatus>>>
