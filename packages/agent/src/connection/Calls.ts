import { CallFailed, type AgentClient, type DrpcClient, type RpcError } from "@atelier/agent-protocol"
import { Duration, Effect } from "effect"
import * as Backoff from "./Backoff.js"

/** Milliseconds between attempts of a call, at most. */
const maximumPause = 10_000

/** How long the server may take to answer a call. Slower answers count as none. */
const answerWithin = Duration.seconds(60)

export type Use<A> = (client: AgentClient) => Effect.Effect<A, DrpcClient.ClientError>

/** Fails a call that the server does not answer in time. */
export const answeredInTime = <A>(answer: Effect.Effect<A, DrpcClient.ClientError>) =>
  Effect.timeoutFail(answer, {
    duration: answerWithin,
    onTimeout: () => new CallFailed({ reason: "connection", message: "The server did not answer in time" })
  })

interface Needs {
  /** Open while there is a connection. */
  readonly connected: Effect.Latch
  /** The client of the connection that there is now. */
  readonly current: () => AgentClient | undefined
}

/** Calls of the server that outlast a connection. */
export const make = ({ connected, current }: Needs) => {
  const call = <A>(use: Use<A>): Effect.Effect<A, RpcError> => {
    const attempting = (attempt: number): Effect.Effect<A, RpcError> =>
      Effect.suspend(() => {
        const client = current()
        if (client === undefined) return Effect.zipRight(connected.await, attempting(attempt))
        return answeredInTime(use(client)).pipe(
          Effect.catchTag("CallFailed", (error) =>
            Effect.logDebug(`A call is made again: ${error.message}`).pipe(
              // Where the connection lives on, the call would fail again at once.
              Effect.zipRight(client === current() ? Backoff.wait(attempt, maximumPause) : Effect.void),
              Effect.zipRight(attempting(attempt + 1))
            )
          )
        )
      })
    return attempting(0)
  }

  const deliver = <A>(what: string, use: Use<A>): Effect.Effect<A> => {
    const attempting = (attempt: number): Effect.Effect<A> =>
      Effect.catchTag(call(use), "RpcError", (error) =>
        Effect.logWarning(`The server does not take ${what}: ${error.message}`).pipe(
          Effect.zipRight(Backoff.wait(attempt, maximumPause)),
          Effect.zipRight(attempting(attempt + 1))
        )
      )
    return attempting(0)
  }

  return { call, deliver }
}
