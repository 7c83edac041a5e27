/** Statements that PostgreSQL reads and plans once per connection. */
import pg from "pg"

/** Statements with a plan of their own, per process: each connection keeps them all. */
const maximumNames = 256

/** Texts whose uses are counted. */
const maximumCounted = 1024

/** Uses after which a text is worth a plan: those that are put together for one caller do not come back. */
const usesUntilPrepared = 5

/** Answers the name under which a text is prepared, if it is used often enough. */
export const makeNames = (): ((text: string) => string | undefined) => {
  const names = new Map<string, string>()
  const counted = new Map<string, number>()
  return (text) => {
    const name = names.get(text)
    if (name !== undefined || names.size === maximumNames) return name
    const uses = (counted.get(text) ?? 0) + 1
    counted.delete(text)
    if (uses === usesUntilPrepared) names.set(text, `atelier_${names.size}`)
    else {
      counted.set(text, uses)
      const [oldest] = counted.keys()
      if (counted.size > maximumCounted && oldest !== undefined) counted.delete(oldest)
    }
    return undefined
  }
}

/** What the driver derives from the description of a statement's columns, to read its rows. */
interface Columns {
  readonly fields: ReadonlyArray<unknown>
  readonly _parsers: unknown
  readonly _prebuiltEmptyResultObject: unknown
}

/** The columns of an answered statement that has rows; undefined if the driver keeps them otherwise than it did when this was written. */
const columnsOf = (query: pg.Query, result: object): Columns | undefined => {
  const fields: unknown = Reflect.get(result, "fields")
  const _parsers: unknown = Reflect.get(result, "_parsers")
  const _prebuiltEmptyResultObject: unknown = Reflect.get(result, "_prebuiltEmptyResultObject")
  const isAsExpected =
    Array.isArray(fields) &&
    Array.isArray(_parsers) &&
    fields.length > 0 &&
    fields.length === _parsers.length &&
    typeof _prebuiltEmptyResultObject === "object" &&
    typeof Reflect.get(query, "_accumulateRows") === "function"
  return isAsExpected ? { fields, _parsers, _prebuiltEmptyResultObject } : undefined
}

type Answer = (cause: Error | undefined, result: object) => void

const isAnswer = (given: unknown): given is Answer => typeof given === "function"

/**
 * Lets a connection prepare the statements that have names. Those without parameters are what begins and ends transactions. The driver asks for a description of
 * the columns with each execution, and reads it each time: a tenth of the service's time for `GET /users/me`. The columns of a prepared statement do not change,
 * so they are described once per connection.
 */
export const prepareOn = (client: pg.PoolClient, nameOf: (text: string) => string | undefined): void => {
  const { query } = client
  const { connection } = client
  const known = new Map<string, Columns>()
  let isDescribed = true

  const { describe } = connection
  Object.assign(connection, {
    describe: (...given: ReadonlyArray<unknown>): void => {
      if (isDescribed) Reflect.apply(describe, connection, given)
    }
  })

  const execute = (name: string, text: string, values: Array<unknown>, answer: Answer): unknown => {
    const columns = known.get(name)
    // Given a name with the text, the driver copies both property by property
    const made: pg.Query = new pg.Query(text, values, (cause, result) => {
      if (columns === undefined && !cause) {
        const found = columnsOf(made, result)
        if (found !== undefined) known.set(name, found)
      }
      answer(cause, result)
    })
    Object.assign(made, { name })
    if (columns !== undefined) {
      const { submit } = made
      Object.assign(Reflect.get(made, "_result"), columns)
      Object.assign(made, {
        _accumulateRows: true,
        submit: (to: pg.Connection): unknown => {
          isDescribed = false
          try {
            return Reflect.apply(submit, made, [to])
          } finally {
            isDescribed = true
          }
        }
      })
    }
    return Reflect.apply(query, client, [made])
  }

  Object.assign(client, {
    query: (...given: ReadonlyArray<unknown>): unknown => {
      const [text, values, answer, ...rest] = given
      if (typeof text !== "string" || !Array.isArray(values) || values.length === 0) return Reflect.apply(query, client, given)
      const name = nameOf(text)
      if (name === undefined) return Reflect.apply(query, client, given)
      return isAnswer(answer)
        ? execute(name, text, values, answer)
        : Reflect.apply(query, client, [{ name, text }, values, answer, ...rest])
    }
  })
}
