/** Agents that have lost their connection, and may come back. */
import { AtelierError } from "../AtelierError.js"
import { call, json } from "../call.js"
import type { Client } from "../Client.js"
import type { WorkspaceAgent } from "../generated/types.js"

/** Milliseconds that an agent which has lost its connection has to come back. */
export const returnTime = 120_000

export const isTransient = (error: unknown): boolean =>
  error instanceof AtelierError && (error.status === 0 || error.status === 408 || error.status === 429 || error.status >= 500)

/** What the agent of a workspace that is being stopped says of itself. */
const endings: ReadonlySet<WorkspaceAgent["lifecycle_state"]> = new Set(["shutting_down", "shutdown_error", "shutdown_timeout", "off"])

/** Whether requests to an agent that are refused may succeed later. */
export interface Absence {
  /** Notes that the agent has answered. */
  readonly end: () => void
  /** Whether it may: the service did not answer, or the agent has lost its connection less than two minutes ago. */
  readonly isPassing: (error: unknown, signal: AbortSignal | undefined) => Promise<boolean>
}

/** Follows whether an agent is away. The service answers 404 for all that an agent has while it is. */
export const absenceOf = (client: Client, workspaceagent: string): Absence => {
  let since: number | undefined
  let isBack = false

  const stateOf = async (signal: AbortSignal | undefined): Promise<"there" | "away" | "gone"> => {
    const path = "/api/v2/workspaceagents/{workspaceagent}"
    try {
      const { lifecycle_state, status } = await call<WorkspaceAgent>(client, "GET", path, json, { workspaceagent }, { signal })
      if (status === "connected") return "there"
      return status === "disconnected" && !endings.has(lifecycle_state) ? "away" : "gone"
    } catch (error) {
      signal?.throwIfAborted()
      return isTransient(error) ? "away" : "gone"
    }
  }

  const end = (): void => {
    since = undefined
    isBack = false
  }

  return {
    end,
    isPassing: async (error, signal) => {
      if (isTransient(error)) {
        end()
        return true
      }
      if (!(error instanceof AtelierError) || error.status !== 404) return false
      const state = await stateOf(signal)
      if (state === "gone") return false
      if (state === "there") {
        // It may have come back after the refusal: the next one counts
        if (isBack) return false
        isBack = true
        return true
      }
      isBack = false
      since ??= performance.now()
      return performance.now() - since < returnTime
    }
  }
}
