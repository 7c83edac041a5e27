import type { SqlClient, SqlError } from "@effect/sql"
import type { Effect } from "effect"

/** Writes workspaces `from` to `to`, a thousand or a multiple of it, with a tenth as many owners; their password is the first user's. */
export declare const seed: (
  sql: SqlClient.SqlClient,
  kind: "sqlite" | "postgres",
  range: { readonly from: number; readonly to: number }
) => Effect.Effect<void, SqlError.SqlError>
