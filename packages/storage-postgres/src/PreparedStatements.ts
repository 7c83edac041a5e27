/** Statements that PostgreSQL reads and plans once per connection. */
import pg from "pg"

/** Statements with a plan of their own, per process: each connection keeps them all. */
const maximumNames = 256

/** Texts whose uses are counted. */
const maximumCounted = 1024

/** Uses after which a text is worth a plan: those that are put together for one caller do not come back. */
const usesUntilPrepared = 5

/** Uses of other statements after which a name without a use is given to another text. */
const idleUses = 10_000

export interface Names {
  /** Answers the name under which a text is prepared, if it is used often enough. No two texts ever have the same name. */
  readonly nameOf: (text: string) => string | undefined
  /** How many names were taken from their texts. */
  readonly takenBack: () => number
  readonly isInUse: (name: string) => boolean
}

/** Gives names to the texts that are used often, and takes them back from those that no longer are. */
export const makeNames = (limits: { readonly names: number; readonly idleUses: number } = { names: maximumNames, idleUses }): Names => {
  /** The least recently used first. */
  const names = new Map<string, { readonly name: string; usedAt: number }>()
  const inUse = new Set<string>()
  const counted = new Map<string, number>()
  let uses = 0
  let given = 0
  let takenBack = 0

  /** Whether there is a name for another text. */
  const makeRoom = (): boolean => {
    if (names.size < limits.names) return true
    const [oldest] = names
    if (oldest === undefined || uses - oldest[1].usedAt < limits.idleUses) return false
    names.delete(oldest[0])
    inUse.delete(oldest[1].name)
    takenBack++
    return true
  }

  return {
    takenBack: () => takenBack,
    isInUse: (name) => inUse.has(name),
    nameOf: (text) => {
      uses++
      const known = names.get(text)
      if (known !== undefined) {
        known.usedAt = uses
        names.delete(text)
        names.set(text, known)
        return known.name
      }
      const usesOfText = (counted.get(text) ?? 0) + 1
      counted.delete(text)
      if (usesOfText >= usesUntilPrepared && makeRoom()) {
        const name = `atelier_${given++}`
        names.set(text, { name, usedAt: uses })
        inUse.add(name)
      } else {
        counted.set(text, usesOfText)
        const [oldest] = counted.keys()
        if (counted.size > maximumCounted && oldest !== undefined) counted.delete(oldest)
      }
      return undefined
    }
  }
}

/** Whether a migration has changed the types of a prepared statement's columns. */
const isOutdated = (cause: Error): boolean =>
  "code" in cause && cause.code === "0A000" && cause.message === "cached plan must not change result type"

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
 * so they are described once per connection. Where a migration has changed their types, the statement is prepared again.
 */
export const prepareOn = (client: pg.PoolClient, { isInUse, nameOf, takenBack }: Names): void => {
  const { query } = client
  const { connection } = client
  const known = new Map<string, Columns>()
  /** The texts of the connection's statements, by name, as the driver keeps them. */
  const parsed: object = Reflect.get(connection, "parsedStatements")
  let isDescribed = true

  const { describe } = connection
  Object.assign(connection, {
    describe: (...given: ReadonlyArray<unknown>): void => {
      if (isDescribed) Reflect.apply(describe, connection, given)
    }
  })

  /** How many names were taken back when this connection last closed theirs. */
  let closed = 0

  const close = (name: string): void => {
    connection.close({ type: "S", name }, false)
    known.delete(name)
    Reflect.deleteProperty(parsed, name)
  }

  const closeUnused = (): void => {
    if (closed === takenBack()) return
    closed = takenBack()
    for (const name of Object.keys(parsed)) if (!isInUse(name)) close(name)
  }

  const execute = (name: string, text: string, values: Array<unknown>, answer: Answer, isAnew = false): unknown => {
    const columns = isAnew ? undefined : known.get(name)
    // Given a name with the text, the driver copies both property by property
    const made: pg.Query = new pg.Query(text, values, (cause, result) => {
      if (cause && isOutdated(cause) && !isAnew && Reflect.get(client, "_txStatus") === "I") {
        execute(name, text, values, answer, true)
        return
      }
      if (columns === undefined && !cause) {
        const found = columnsOf(made, result)
        if (found !== undefined) known.set(name, found)
      }
      answer(cause, result)
    })
    const { submit } = made
    if (columns !== undefined) {
      Object.assign(Reflect.get(made, "_result"), columns)
      Object.assign(made, { _accumulateRows: true })
    }
    Object.assign(made, {
      name,
      submit: (to: pg.Connection): unknown => {
        closeUnused()
        if (isAnew) close(name)
        isDescribed = columns === undefined
        try {
          return Reflect.apply(submit, made, [to])
        } finally {
          isDescribed = true
        }
      }
    })
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
