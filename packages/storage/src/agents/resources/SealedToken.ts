import type { SealedRow } from "@atelier/core/platform"
import { bytes, row, text, uuid } from "../../platform/Row.js"

const tokenRow = row({ id: uuid, sealed_token_key_id: text(), sealed_token: bytes })

/** The sealed token of an agent's row. Tokens belong to agents, not to users. */
export const sealedToken = (from: object): SealedRow => {
  const { id, sealed_token: ciphertext, sealed_token_key_id: key_id } = tokenRow(from)
  return { id, user_id: id, value: { key_id, ciphertext } }
}
