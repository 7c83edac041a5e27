/** How the deployment's keys of web push are stored: the private one is encrypted. */
import { Option, Schema } from "effect"
import type { DeploymentValues } from "../deployment/DeploymentValues.js"
import { sealedValueColumn } from "../deployment/SealedValue.js"

/** The deployment value that holds the keys, and the place that its secret part is sealed for. */
export const keysValue = "webpush_keys"

const StoredKeys = Schema.parseJson(
  Schema.Struct({ public_key: Schema.String, key_id: Schema.String, private_key: Schema.Uint8ArrayFromBase64 })
)
export const readKeys = Schema.decodeOption(StoredKeys)
export const writeKeys = Schema.encodeSync(StoredKeys)

/** The private key as a column of encrypted values. */
export const pushKeyColumn = (values: DeploymentValues["Type"]) =>
  sealedValueColumn(values, {
    name: "the private key of web push",
    key: keysValue,
    read: (text) => Option.map(readKeys(text), ({ key_id, private_key }) => ({ key_id, ciphertext: private_key })),
    write: (text, { ciphertext, key_id }) =>
      Option.match(readKeys(text), { onNone: () => text, onSome: (keys) => writeKeys({ ...keys, key_id, private_key: ciphertext }) })
  })
