/** Connections whose server has gone silent. */
import type pg from "pg"

/** The text of the driver for a statement without an answer. */
const unanswered = "Query read timeout"

/**
 * Gives a connection up if one of its statements is not answered in time, in milliseconds. Its statements fail then. The driver's own `query_timeout` would leave
 * it open, and the next statement on it would wait as long. Of a pipelined connection it does that by itself.
 */
export const requireAnswers = (client: pg.PoolClient, within: () => number): void => {
  const { connection, query } = client
  let timer: NodeJS.Timeout | undefined
  const stop = (): void => {
    clearTimeout(timer)
    timer = undefined
  }
  const wait = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => connection.stream.destroy(new Error(unanswered)), within())
    timer.unref()
  }
  Object.assign(client, {
    query: (...given: ReadonlyArray<unknown>): unknown => {
      if (timer === undefined) wait()
      return Reflect.apply(query, client, given)
    }
  })
  // Each statement ends so; after the last of those that wait, the driver has told that before
  connection.on("readyForQuery", () => {
    if (timer !== undefined) wait()
  })
  client.on("drain", stop)
  client.on("end", stop)
}
