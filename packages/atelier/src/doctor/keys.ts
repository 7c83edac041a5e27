/** Whether the options have the keys that encrypted what is stored. */
import { valueOf } from "@atelier/core/deployment"
import { NodeEncryption } from "@atelier/node"
import { encryptionKeyIds, Statements } from "@atelier/storage"
import { Effect, Either } from "effect"
import { existsSync } from "node:fs"
import type { Options } from "../Options.js"
import { type Check, fault, ok } from "./Finding.js"

/** The key in the store goes with those that are given. */
const stored = Effect.gen(function* () {
  const sql = yield* Statements
  const keys = yield* sql<{ value: string }>`SELECT value FROM deployment_values WHERE key = ${NodeEncryption.storedKey}`
  return { needed: yield* encryptionKeyIds, keys: keys.map(({ value }) => value) }
})

const look = async ({ database }: Options) =>
  database.kind === "sqlite"
    ? (await import("@atelier/storage-sqlite")).Sqlite.read({ filename: database.filename }, stored)
    : (await import("@atelier/storage-postgres")).Postgres.read({ url: database.url }, stored)

export const keyFindings: Check = async (options) => {
  const { configuration, database } = options
  const given = valueOf(configuration, "external-token-encryption-keys")
  if (database.kind === "sqlite" && !existsSync(database.filename)) return []
  const found = await Effect.runPromise(Effect.either(await look(options)))
  // The check of the database says why
  if (Either.isLeft(found)) return []
  const { keys, needed } = found.right
  const known = new Set([...given, ...keys].map((key) => NodeEncryption.parseKey(key).id))
  const missing = needed.filter((id) => !known.has(id))
  if (missing.length === 0) {
    return [
      ok(given.length > 0 ? "stored secrets open with the given keys" : "none given: the key is in the database, beside what it encrypts")
    ]
  }
  return missing.map((id) =>
    fault(
      `stored secrets are encrypted with the key ${id}, which is not given`,
      "name that key too with --external-token-encryption-keys: what it encrypted cannot be read without it"
    )
  )
}
