/** Keys with which daemons on other machines connect. templates-and-provisioning.md §7.2. */
import { Schema } from "effect"
import { NotFound } from "../../platform/Errors.js"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { ProvisionerTags } from "../queue/ProvisionerTags.js"

export const ProvisionerKeyId = Uuid
export type ProvisionerKeyId = Uuid

/** A key as it is stored, without the hash of its secret. */
export const ProvisionerKey = Schema.Struct({
  id: ProvisionerKeyId,
  created_at: Timestamp,
  organization_id: Uuid,
  /** In lower case; unique in the organization. */
  name: Schema.String,
  /** As they were given: they are normalised when a daemon connects. */
  tags: ProvisionerTags
})
export interface ProvisionerKey extends Schema.Schema.Type<typeof ProvisionerKey> {}

/** Characters of a secret: 32 random bytes in base64url (RFC 4648 §5). */
export const provisionerSecretLength = 43

const maximumName = 64

/** The rule that the name of a key breaks, or undefined. The name stands in paths. */
export const provisionerKeyNameViolation = (name: string, builtIn: ReadonlySet<string>): string | undefined => {
  if (name === "") return "is required"
  if (Array.from(name).length > maximumName) return `must have at most ${maximumName} characters`
  if (!/^[a-zA-Z0-9_][a-zA-Z0-9_.-]*$/.test(name)) return "must consist of letters, digits, _, . and -"
  return builtIn.has(name.toLowerCase()) ? "is the name of a built-in key" : undefined
}

export const missingProvisionerKey = new NotFound({ resource: "provisioner_key" })
