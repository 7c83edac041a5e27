/** Statements that PostgreSQL reads and plans once per connection. */
import type pg from "pg"

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

/** Lets a connection prepare the statements that have names. Those without parameters are what begins and ends transactions. */
export const prepareOn = (client: pg.PoolClient, nameOf: (text: string) => string | undefined): void => {
  const { query } = client
  Object.assign(client, {
    query: (...given: ReadonlyArray<unknown>): unknown => {
      const [text, values, ...rest] = given
      const name = typeof text === "string" && Array.isArray(values) && values.length > 0 ? nameOf(text) : undefined
      return Reflect.apply(query, client, name === undefined ? given : [{ name, text }, values, ...rest])
    }
  })
}
