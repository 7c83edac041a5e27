/** Statements that PostgreSQL reads and plans once per connection. */
import { plannedAnew } from "@atelier/storage"
import type { EventEmitter } from "node:events"
import pg from "pg"
import { types } from "./Types.js"

/** Statements with a plan of their own, per process: each connection keeps them all. */
const maximumNames = 256

/** Texts whose uses are counted. */
const maximumCounted = 1024

/** Uses after which a text is worth a plan: those that are put together for one caller do not come back. */
const usesUntilPrepared = 5

/** Uses of other statements after which a name without a use is given to another text. */
const idleUses = 10_000

export interface Names {
  /** Answers the name under which a text is prepared, if it is used often enough, and has a plan that serves all its uses. No two texts ever have the same name. */
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
      if (text.includes(plannedAnew)) return undefined
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

/** How the rows of a statement are read. */
interface Columns {
  readonly each: ReadonlyArray<{ readonly name: string; readonly parse: (text: string) => unknown }>
  /** A row with all names: objects that are copied from one have a common form. */
  readonly empty: Readonly<Record<string, unknown>>
}

const columnsOf = (fields: ReadonlyArray<pg.FieldDef>): Columns => ({
  each: fields.map(({ dataTypeID, name }) => ({ name, parse: types.getTypeParser(dataTypeID, "text") })),
  empty: Object.fromEntries(fields.map(({ name }) => [name, null]))
})

const rowOf = ({ each, empty }: Columns, values: ReadonlyArray<string | null>): object => {
  const row: Record<string, unknown> = { ...empty }
  let index = 0
  for (const value of values) {
    const column = each[index++]
    if (value !== null && column !== undefined) row[column.name] = column.parse(value)
  }
  return row
}

type Bound = Buffer | string | null

/** A value as the protocol sends it; undefined for a value whose form only the driver knows. */
const boundOf = (value: unknown): Bound | undefined => {
  if (typeof value === "string") return value
  if (value === null || value === undefined) return null
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return typeof value === "object" || typeof value === "function" || typeof value === "symbol" ? undefined : String(value)
}

const allBound = (values: ReadonlyArray<unknown>): Array<Bound> | undefined => {
  const bound: Array<Bound> = []
  for (const value of values) {
    const one = boundOf(value)
    if (one === undefined) return undefined
    bound.push(one)
  }
  return bound
}

type Answer = (cause: Error | undefined, result: pg.QueryResult<object>) => void

const isAnswer = (given: unknown): given is Answer => typeof given === "function"

/** The prepared statements of a connection, by name, with their columns as soon as those are described. */
type Prepared = Map<string, Columns | undefined>

interface Named {
  readonly name: string
  readonly text: string
  readonly values: Array<Bound>
}

/** The driver's types have `submit` as a property, which no method overrides. */
const DriverQuery: new (text: string, answer: Answer) => EventEmitter = pg.Query

/** A query of the driver that is prepared and described only when its connection does not have it yet. */
class PreparedQuery extends DriverQuery {
  readonly found: Array<object> = []
  isPreparing = false
  #columns: Columns | undefined

  constructor(
    private readonly prepared: Prepared,
    private readonly closeUnused: (connection: pg.Connection) => void,
    private readonly statement: Named,
    answer: Answer
  ) {
    // Of an object, the driver would copy each property, which costs a third of a short read
    super(statement.text, answer)
  }

  submit(connection: pg.Connection): void {
    const { name, text, values } = this.statement
    this.closeUnused(connection)
    this.isPreparing = !this.prepared.has(name)
    this.#columns = this.prepared.get(name)
    connection.stream.cork()
    if (this.isPreparing) {
      // One whose preparation failed before may be there, or not
      connection.close({ type: "S", name }, true)
      connection.parse({ name, text, types: [] }, true)
      this.prepared.set(name, undefined)
    }
    connection.bind({ statement: name, values }, true)
    if (this.#columns === undefined) connection.describe({ type: "P" }, true)
    connection.execute(null, true)
    connection.sync()
    connection.stream.uncork()
  }

  handleRowDescription({ fields }: { readonly fields: ReadonlyArray<pg.FieldDef> }): void {
    this.#columns = columnsOf(fields)
    if (this.prepared.has(this.statement.name)) this.prepared.set(this.statement.name, this.#columns)
  }

  handleDataRow({ fields }: { readonly fields: ReadonlyArray<string | null> }): void {
    if (this.#columns !== undefined) this.found.push(rowOf(this.#columns, fields))
  }
}

/**
 * Lets a connection prepare the statements that have names. Those without parameters are what begins and ends transactions. The driver's own prepared statements
 * are described with each execution, and it reads the description each time: a tenth of the service's time for `GET /users/me`. The columns of a prepared statement do
 * not change, so these are described once per connection. Where a migration has changed the types of columns, the statement is prepared again.
 */
export const prepareOn = (client: pg.PoolClient, { isInUse, nameOf, takenBack }: Names): void => {
  const { query } = client
  const prepared: Prepared = new Map()

  /** How many names were taken back when this connection last closed theirs. */
  let closed = 0

  const closeUnused = (connection: pg.Connection): void => {
    if (closed === takenBack()) return
    closed = takenBack()
    for (const name of prepared.keys()) {
      if (isInUse(name)) continue
      connection.close({ type: "S", name }, true)
      prepared.delete(name)
    }
  }

  const execute = (statement: Named, answer: Answer, isAnew = false): unknown => {
    const made: PreparedQuery = new PreparedQuery(prepared, closeUnused, statement, (cause, result) => {
      if (!cause) return answer(undefined, Object.assign(result, { rows: made.found }))
      const isAgain = isOutdated(cause) && !isAnew && client.getTransactionStatus() === "I"
      if (made.isPreparing || isAgain) prepared.delete(statement.name)
      if (isAgain) execute(statement, answer, true)
      else answer(cause, result)
    })
    return Reflect.apply(query, client, [made])
  }

  Object.assign(client, {
    query: (...given: ReadonlyArray<unknown>): unknown => {
      const [text, parameters, answer] = given
      if (typeof text === "string" && Array.isArray(parameters) && parameters.length > 0 && isAnswer(answer)) {
        const values = allBound(parameters)
        const name = values && nameOf(text)
        if (values !== undefined && name !== undefined) return execute({ name, text, values }, answer)
      }
      return Reflect.apply(query, client, given)
    }
  })
}
