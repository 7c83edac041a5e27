/** Connections whose server has gone silent. */
import pg from "pg"
import { destroy } from "./Closing.js"

/** The text of the driver for a statement without an answer. */
const unanswered = "Query read timeout"

/** Milliseconds after which another connection asks the server whether it still works on a statement, and then again and again. */
const askedAfter = 5_000

/** Milliseconds that the server may take to answer that. */
const answeredWithin = 8_000

/** Milliseconds in which an answer arrives that the server had sent before it was asked. */
const onItsWay = 500

const activity = "SELECT pid FROM pg_stat_activity WHERE state NOT LIKE 'idle%'"

/**
 * The server processes that work on a statement; `silent` if the server does not answer in time, and `unknown` if it refuses to tell, as one with too many
 * connections does.
 */
type Working = ReadonlySet<unknown> | "silent" | "unknown"

const ask = async (url: string): Promise<Working> => {
  const client = new pg.Client({ connectionString: url, application_name: "atelier answers" })
  client.on("error", () => undefined)
  const asked = async (): Promise<Working> => {
    await client.connect()
    const { rows } = await client.query<{ pid: number }>(activity)
    void client.end()
    return new Set(rows.map(({ pid }) => pid))
  }
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<Working>((resolve) => {
    timer = setTimeout(() => resolve("silent"), answeredWithin).unref()
  })
  const working = await Promise.race([asked().catch((): Working => "unknown"), silence])
  clearTimeout(timer)
  if (typeof working === "string") destroy(client)
  return working
}

/**
 * Returns a function that tells what a server works on. All who want to know share one question at a time: a server that is slow would get one more
 * connection for each statement that waits. The answer is of an instant after `since`.
 */
export const makeAsking = (url: string): ((since: number) => Promise<Working>) => {
  let question: { readonly begun: number; readonly answer: Promise<Working> } | undefined
  const current = () => {
    question ??= {
      begun: performance.now(),
      // A file of the address may not be readable at the moment
      answer: ask(url)
        .catch((): Working => "unknown")
        .finally(() => {
          question = undefined
        })
    }
    return question
  }
  return async (since) => {
    const { answer, begun } = current()
    const working = await answer
    return working === "silent" || begun >= since ? working : current().answer
  }
}

/** The id of the server process that a connection was told at its start, which the driver's types lack. */
export const processIdOf = (client: pg.PoolClient): unknown => Reflect.get(client, "processID")

/** What the pool of a connection knows of its server. */
export interface Server {
  /** Tells what the server works on at an instant after `since`, of the clock of `performance`. */
  readonly working: (since: number) => Promise<Working>
  /** Whether the ids that connections are told are those of the server's processes. A proxy in between tells others. */
  readonly hasOwnIds: () => boolean
  /** Called when the connection of one statement was silently lost. */
  readonly onSilent: () => void
}

/**
 * Gives a connection up if one of its statements is not answered in time, in milliseconds, or earlier if the server does not work on it. Its statements
 * fail then. The driver's own `query_timeout` would leave it open, and the next statement on it would wait as long. Of a pipelined connection it
 * does that by itself.
 */
export const requireAnswers = (client: pg.PoolClient, within: () => number, server: Server): void => {
  const { connection, query } = client
  let timer: NodeJS.Timeout | undefined
  let begun = 0
  /** Counts statements, so that what was found out about one does not concern the next. */
  let statement = 0
  let isLooking = false
  /** How many bytes have arrived, which the driver's types lack. */
  const received = (): unknown => Reflect.get(connection.stream, "bytesRead")
  const giveUp = (): void => {
    connection.stream.destroy(new Error(unanswered))
  }
  const stop = (): void => {
    clearTimeout(timer)
    timer = undefined
    statement += 1
  }
  const look = async (looked: number): Promise<void> => {
    isLooking = true
    const before = received()
    const working = await server.working(begun)
    isLooking = false
    if (working === "unknown" || (working !== "silent" && working.has(processIdOf(client)))) return
    const judge = (): void => {
      // What arrives may be the rest of a long answer, which the server counts as sent
      if (statement !== looked || received() !== before) return
      giveUp()
      server.onSilent()
    }
    // A process that was busy reads what has arrived before it judges
    setTimeout(() => setImmediate(judge), onItsWay).unref()
  }
  const check = (): void => {
    const left = within() - (performance.now() - begun)
    if (left <= 0) return giveUp()
    timer = setTimeout(check, Math.min(askedAfter, left)).unref()
    if (server.hasOwnIds() && !isLooking) void look(statement)
  }
  const wait = (): void => {
    stop()
    begun = performance.now()
    timer = setTimeout(check, Math.min(askedAfter, within())).unref()
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
