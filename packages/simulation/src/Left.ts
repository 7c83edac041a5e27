/** What calls of a history leave to each other, and what they were promised. */
import type { Effect, Redacted } from "effect"
import type { Everything } from "./Replica.js"

/** A session or token that a user was given. */
export interface Session {
  readonly token: Redacted.Redacted<string>
  /** Ends it, as its user does. */
  readonly end: Effect.Effect<unknown, unknown, Everything>
  /** When the user was told that it has ended, in milliseconds since 1970. */
  endedAt: number | undefined
}

/** A stream of a workspace that a user follows. */
export interface Watcher {
  readonly workspaceId: string
  /** What the user has logged in with; undefined where the history lets the user act without. */
  readonly session: Session | undefined
  /** The build that it has shown last. */
  buildId: string | undefined
  status: string | undefined
  isOpen: boolean
}

export interface Left {
  /** The world's time. */
  readonly now: () => number
  readonly sessions: Array<Session>
  /** Called with each stream that begins. */
  readonly watching: (watcher: Watcher) => void
  /** Messages to tasks whose arrival was acknowledged. */
  readonly sent: Array<string>
}

/** A row that has to be there after the call was answered. */
export interface Acknowledged {
  readonly table: "workspaces" | "workspace_builds" | "tasks"
  readonly id: string
}

/** One of several, by a number of any size. */
export const at = <A>(items: ReadonlyArray<A>, index: number): A | undefined => items[index % Math.max(1, items.length)]
