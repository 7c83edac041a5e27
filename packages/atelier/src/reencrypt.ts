/** Encrypts what is stored anew with the first key, so that the others can be given up: `atelier reencrypt`. */
import { Access, SystemActor } from "@atelier/core/access"
import { valueOf } from "@atelier/core/deployment"
import { SecretValues } from "@atelier/core/identity"
import { Ids } from "@atelier/core/platform"
import { sealedColumns } from "@atelier/core/workspaces"
import { NodeCryptography, NodeEncryption, NodeSshKeyGenerator } from "@atelier/node"
import { Effect, Layer, Logger, LogLevel } from "effect"
import { onDatabase } from "./onDatabase.js"
import { UsageError } from "./Options.js"
import { printed } from "./printed.js"
import { requireDatabase, shownDatabase, storageOf } from "./storage.js"

const counted = (values: number): string => (values === 1 ? "1 value is" : `${values} values are`)

/** Encrypts anew, and returns the exit code. */
export const run = (words: ReadonlyArray<string>): Promise<number> =>
  onDatabase(words, {
    usage: "reencrypt",
    help: `Encrypts the stored secrets anew with the first key of --external-token-encryption-keys. Give the former keys behind it; afterwards they can be left out.
It runs beside servers on PostgreSQL, which have the new key by then. A database file is free only while no server uses it.`,
    run: async (options) => {
      const keys = valueOf(options.configuration, "external-token-encryption-keys").map(NodeEncryption.parseKey)
      if (keys.length === 0) throw new UsageError("The keys are missing: give --external-token-encryption-keys NEW,OLD")
      requireDatabase(options)
      const services = SecretValues.layer.pipe(
        Layer.provideMerge(sealedColumns),
        Layer.provideMerge(Layer.mergeAll(NodeEncryption.layer(keys), NodeSshKeyGenerator.layer)),
        Layer.provideMerge(Layer.mergeAll(Ids.layer, await storageOf(options))),
        Layer.provideMerge(NodeCryptography.layer)
      )
      const { resealed, unreadable } = await Effect.runPromise(
        Effect.flatMap(SecretValues, (values) => values.reseal()).pipe(
          Access.actingAs(SystemActor.cryptoKeyRotator),
          Effect.provide(services),
          // The values that do not open are counted below
          Logger.withMinimumLogLevel(LogLevel.Fatal)
        )
      )
      await printed(`${shownDatabase(options.database)}: ${counted(resealed)} encrypted anew with the first key\n`)
      if (unreadable === 0) return 0
      process.stderr.write(`${counted(unreadable)} not readable with these keys: give the former key too, behind the first one\n`)
      return 1
    }
  })
