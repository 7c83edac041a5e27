/**
 * Reads of many requests on one connection, which do not wait for each other's answers. Every request begins with a short read of its caller. With a
 * connection for each, as many processes of the database are woken up, which costs more than the reads.
 */
import type { SqlError } from "@effect/sql"
import type { Rows } from "@atelier/storage"
import { Effect } from "effect"
import type pg from "pg"
import { isRefusal, makeSharedConnection, refusesValues, sqlError, type Waiting } from "./SharedConnection.js"
import { type Call, rowsOf, statementsOf, valuesOf } from "./SharedItems.js"

interface Read extends Call, Waiting {
  readonly succeed: (rows: ReadonlyArray<object>) => void
}

/** What reads with the same item are sent as. */
interface Question extends Call {
  readonly askers: Array<Read>
}

/** Requests with the same credential, such as those of one page of a browser, ask the same. */
const questionsOf = (reads: ReadonlyArray<Read>): ReadonlyArray<Question> => {
  const questions = new Map<string | undefined, Question>()
  for (const read of reads) {
    const known = questions.get(read.item)
    if (known === undefined) questions.set(read.item, { text: read.text, values: read.values, item: read.item, askers: [read] })
    else known.askers.push(read)
  }
  return [...questions.values()]
}

export interface SharedReads {
  /** Runs a statement. With an item, it is the only one of the list that the statement has as its value. */
  readonly read: (text: string, values: ReadonlyArray<unknown>, item?: string) => Effect.Effect<Rows, SqlError.SqlError>
  readonly close: () => void
}

/** Reads on one connection of a pool with pipelined clients, which have a `query_timeout`. Reads with the same text that have items share a statement. */
export const makeSharedReads = (pool: pg.Pool): SharedReads => {
  const send = (client: pg.PoolClient, questions: ReadonlyArray<Question>): void => {
    const [first, another] = questions
    if (first === undefined) return
    client.query<object>(first.text, valuesOf(questions), (cause: Error | undefined, result) => {
      if (!cause) {
        const answers = rowsOf(questions, result.rows)
        return questions.forEach(({ askers }, index) => askers.forEach(({ succeed }) => succeed(answers[index] ?? [])))
      }
      // Each has its own answer or error then. One that has waited too long is not sent again: its callers have waited as long
      if (refusesValues(cause) && another !== undefined) return questions.forEach((question) => send(client, [question]))
      if (!isRefusal(cause)) release(client)
      for (const { askers } of questions) for (const { fail } of askers) fail(cause)
    })
  }

  const { add, close, release } = makeSharedConnection<Read>(pool, (client, take) => {
    for (const served of statementsOf(take(Infinity))) send(client, questionsOf(served))
  })

  return {
    read: (text, values, item) =>
      Effect.async((resume) =>
        add({
          text,
          values,
          item,
          succeed: (rows) => resume(Effect.succeed(rows)),
          fail: (cause) => resume(sqlError(cause))
        })
      ),
    close
  }
}
