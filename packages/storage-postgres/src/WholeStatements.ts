import type { SqlClient, Statement } from "@effect/sql"
import { Effect } from "effect"

/** A call of the client makes a statement, which is an effect, or a name. */
const isStatement = (made: unknown): made is Statement.Statement<object> => Effect.isEffect(made)

/**
 * The client, with statements that run to their end once their fiber has come to them. An interrupted one would be canceled by the
 * process id of its connection, which by then may run the statement of somebody else.
 */
export const whole = (client: SqlClient.SqlClient): SqlClient.SqlClient => {
  const uncut = <A extends object>(statement: Statement.Statement<A>): Statement.Statement<A> =>
    // What an effect of a library's own making runs
    Object.assign(statement, { commit: () => Effect.uninterruptible(statement.withoutTransform) })

  const unsafe = <A extends object>(text: string, parameters?: ReadonlyArray<unknown>) => uncut(client.unsafe<A>(text, parameters))
  const made: SqlClient.SqlClient = new Proxy(client, {
    apply: (target, self, parameters) => {
      const made: unknown = Reflect.apply(target, self, parameters)
      return isStatement(made) ? uncut(made) : made
    },
    get: (target, name) => (name === "safe" ? made : name === "unsafe" ? unsafe : Reflect.get(target, name))
  })
  return made
}
