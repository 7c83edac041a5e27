/** The key by which SSH clients know the deployment's gateway again. agents-and-apps.md §17c. */
import { Context, Effect, Option, Redacted, Schema } from "effect"
import { DeploymentValues } from "../../deployment/DeploymentValues.js"
import { sealedValueColumn } from "../../deployment/SealedValue.js"
import { SshKeyGenerator } from "../../identity/secrets/GitSshKey.js"
import { Encryption } from "../../platform/secrets/Encryption.js"
import { openRow, type SealedColumn } from "../../platform/store/Resealing.js"
import { nil } from "../../platform/texts/Uuid.js"
import { service } from "../../platform/wiring/Standing.js"

const name = "ssh_gateway_host_key"

const Stored = Schema.parseJson(Schema.Struct({ key_id: Schema.String, ciphertext: Schema.Uint8ArrayFromBase64 }))

const encode = Schema.encodeSync(Stored)
const decode = Schema.decodeSync(Stored)

/** The methods of {@link GatewayKey}. */
export interface GatewayKeyService {
  readonly column: SealedColumn

  /** Returns the private key in OpenSSH's form. It is made when it is first asked for, and is the same for all replicas. For the gateway alone. */
  readonly key: Effect.Effect<Redacted.Redacted>
}

const make = Effect.gen(function* () {
  const values = yield* DeploymentValues
  const generator = yield* SshKeyGenerator
  const encryption = yield* Encryption

  const column = sealedValueColumn(values, {
    name: "the SSH gateway's host key",
    key: name,
    read: (text) => Option.some(decode(text)),
    write: (_, sealed) => encode(sealed)
  })

  const opened = (text: string) => openRow(encryption, column, { id: nil, user_id: nil, value: decode(text) })

  /** The key under a name, which is made unless there is one. */
  const keyNamed = (stored: string) =>
    Effect.gen(function* () {
      const known = Option.getOrUndefined(yield* values.get(stored))
      if (known !== undefined) return yield* opened(known)
      const { private_key } = yield* generator.generate("ed25519")
      const sealed = yield* encryption.seal(new TextEncoder().encode(Redacted.value(private_key)), column.placeOf())
      // Another replica may have been faster: its key counts
      return yield* opened(yield* values.getOrInsert(stored, encode(sealed)))
    })

  return {
    column,
    key: Effect.gen(function* () {
      const usual = yield* keyNamed(name)
      // One that no encryption key opens is replaced by one for all replicas with the present encryption key
      const bytes = Option.isSome(usual) ? usual : yield* keyNamed(`${name}/${encryption.keyId}`)
      return Option.isSome(bytes)
        ? Redacted.make(new TextDecoder().decode(bytes.value))
        : yield* Effect.dieMessage("the host key of the SSH gateway cannot be read")
    })
  }
})

/** The host key of the SSH gateway. */
export class GatewayKey extends Context.Tag("@atelier/core/GatewayKey")<GatewayKey, GatewayKeyService>() {
  static readonly layer = service(GatewayKey, make)
}
