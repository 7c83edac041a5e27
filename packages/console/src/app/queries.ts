/** The cache of what the server said. */
import { MutationCache, notifyManager, QueryCache, QueryClient } from "@tanstack/react-query"
import { statusOf } from "./client.js"
import { connectionState, onConnection } from "./connection.js"
import { isSessionOver, onSessionOver, signIn } from "./sessionEnd.js"

const maximumRetries = 2

const onError = (error: unknown): void => {
  if (statusOf(error) === 401) signIn()
}

/** No answer, too many requests and failures of the server may pass; refusals stay. */
export const mayPass = (error: unknown): boolean => {
  const status = statusOf(error)
  return status === undefined || status === 0 || status === 429 || status >= 500
}

// Before the next frame: otherwise a switch shows its old state for a moment after a click, until the component hears of the change
notifyManager.setScheduler(queueMicrotask)

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // The server may be local where the machine has no network
      networkMode: "always",
      retry: (failures, error) => mayPass(error) && failures < maximumRetries,
      retryDelay: (attempt) => Math.min(4_000, 400 * 2 ** attempt)
    },
    mutations: { networkMode: "always" }
  }
})

// What was refused while there was no session
onSessionOver(() => {
  if (!isSessionOver()) void queryClient.invalidateQueries()
})

// What was missed while the server was away
onConnection(() => {
  if (connectionState() === "up") void queryClient.invalidateQueries()
})
