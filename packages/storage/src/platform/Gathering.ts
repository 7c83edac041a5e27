import type { SqlClient, SqlError, Statement } from "@effect/sql"
import { Effect } from "effect"
import { isStatement } from "./Statement.js"

/**
 * A client that gathers texts without parameters, and sends them in one message before the next other statement or the end of the transaction.
 * Their answers are empty. Other ways to run a statement than as an effect, such as `values`, send nothing before.
 */
export const gathering = (client: SqlClient.SqlClient): SqlClient.SqlClient => {
  const gathered: Array<string> = []

  const send: Effect.Effect<void, SqlError.SqlError> = Effect.suspend(() =>
    gathered.length === 0 ? Effect.void : Effect.asVoid(client.unsafe(gathered.splice(0).join(";\n")))
  )

  const after = <A extends object>(statement: Statement.Statement<A>): Statement.Statement<A> => {
    // How the client's own effects run
    const commit: () => Effect.Effect<ReadonlyArray<A>, SqlError.SqlError> = Reflect.get(statement, "commit")
    return Object.assign(statement, { commit: () => Effect.zipRight(send, commit.call(statement)) })
  }

  const gather = <A extends object>(text: string, statement: Statement.Statement<A>): Statement.Statement<A> =>
    Object.assign(statement, {
      commit: () =>
        Effect.sync(() => {
          gathered.push(text)
          return []
        })
    })

  const replaced: Readonly<Record<PropertyKey, unknown>> = {
    unsafe: (text: string, parameters: ReadonlyArray<unknown> = []) => {
      const statement = client.unsafe(text, parameters)
      return parameters.length === 0 ? gather(text, statement) : after(statement)
    },
    withTransaction: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.zipRight(send, client.withTransaction(Effect.zipLeft(effect, send)))
  }
  return new Proxy(client, {
    apply: (target, self, parameters) => {
      const made: unknown = Reflect.apply(target, self, parameters)
      return isStatement(made) ? after(made) : made
    },
    get: (target, name) => (Object.hasOwn(replaced, name) ? replaced[name] : Reflect.get(target, name))
  })
}
