import { Schema } from "effect"
import * as AccessObjects from "../../access/AccessObjects.js"
import type { AccessObject } from "../../access/Resource.js"
import { type Validation, validationsOf } from "../../platform/Errors.js"
import { Timestamp } from "../../platform/time/Timestamp.js"
import { Uuid } from "../../platform/texts/Uuid.js"
import { UserId } from "../users/User.js"

/** A value that a user's workspaces receive as an environment variable, a file or both. The API never returns it. identity.md §11. */
export const UserSecret = Schema.Struct({
  id: Uuid,
  user_id: UserId,
  /** Unique among the user's; fixed. */
  name: Schema.String,
  description: Schema.String,
  /** Empty, or unique among the user's. */
  env_name: Schema.String,
  /** Empty, or unique among the user's. */
  file_path: Schema.String,
  /** Whether workspaces are given it. */
  enabled: Schema.Boolean,
  /** UTF-8 bytes of the value, which is stored encrypted. */
  value_size: Schema.Int,
  created_at: Timestamp,
  updated_at: Timestamp
})
export interface UserSecret extends Schema.Schema.Type<typeof UserSecret> {}

/** The object of a secret's permission checks. It belongs to its user alone. */
export const userSecretObject = ({ id, user_id }: Pick<UserSecret, "id" | "user_id">): AccessObject =>
  AccessObjects.ownedBy("user_secret", user_id, id)

/** Bytes of one value. */
const maximumValueSize = 24_576

/** Per user: secrets; bytes of all values; bytes of the values that become environment variables. */
const maximumSecrets = 50
const maximumTotalSize = 204_800
const maximumEnvironmentSize = 24_576

/** Bytes of texts that are not bounded otherwise: a name has to fit into a path. */
const maximumNameSize = 256
const maximumDescriptionSize = 4096

const encoder = new TextEncoder()

/** How much of a limit a text takes, in UTF-8 bytes. */
export const sizeOf = (text: string): number => encoder.encode(text).length

/** Variables that workspaces, shells and loaders rely on. */
const reservedNames: ReadonlySet<string> = new Set(
  (
    "CODER PATH HOME SHELL USER LOGNAME PWD OLDPWD LANG TERM IFS CDPATH ENV BASH_ENV TMPDIR TMP TEMP HOSTNAME SSH_AUTH_SOCK SSH_CLIENT " +
    "SSH_CONNECTION SSH_TTY EDITOR VISUAL PAGER VSCODE_PROXY_URI CS_DISABLE_GETTING_STARTED_OVERRIDE XDG_RUNTIME_DIR XDG_CONFIG_HOME " +
    "XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME"
  ).split(" ")
)
const reservedPrefixes = ["CODER_", "GIT_", "LC_", "LD_", "DYLD_"]

/** The rule an environment variable's name breaks, or undefined. `brand` is the word that the service's own variables begin with. */
export const environmentViolation = (name: string, brand: string): string | undefined => {
  if (name === "") return undefined
  if (name.length > 256) return "must be at most 256 bytes"
  if (!/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name)) return "must consist of letters, digits and underscores, and not begin with a digit"
  const upper = name.toUpperCase()
  const own = brand.toUpperCase()
  return reservedNames.has(upper) || upper === own || [...reservedPrefixes, `${own}_`].some((prefix) => upper.startsWith(prefix))
    ? `must not be ${JSON.stringify(name)}, which is reserved`
    : undefined
}

const nameViolation = (name: string): string | undefined => {
  if (name === "") return "is required"
  if (name !== name.trim()) return "must not begin or end with whitespace"
  if (/[/?#\0]/.test(name)) return "must not contain /, ?, # or a NUL character"
  // These two are steps of a path: clients resolve them before they send it
  if (name === "." || name === "..") return `must not be ${JSON.stringify(name)}`
  return sizeOf(name) > maximumNameSize ? `must be at most ${maximumNameSize} bytes` : undefined
}

const descriptionViolation = (description: string): string | undefined => {
  if (description.includes("\0")) return "must not contain a NUL character"
  return sizeOf(description) > maximumDescriptionSize ? `must be at most ${maximumDescriptionSize} bytes` : undefined
}

const pathViolation = (path: string): string | undefined => {
  if (path === "") return undefined
  if (!path.startsWith("/") && !path.startsWith("~/")) return "must begin with / or ~/"
  if (path.includes("\0")) return "must not contain a NUL character"
  return sizeOf(path) > 4096 ? "must be at most 4096 bytes" : undefined
}

/** The rule a value breaks, or undefined. It does not show the value. */
export const valueViolation = (value: string): string | undefined => {
  if (value.includes("\0")) return "must not contain a NUL character"
  return sizeOf(value) > maximumValueSize ? `must be at most ${maximumValueSize} bytes` : undefined
}

/** The rules that a secret without its value breaks, one entry per field. */
export const userSecretViolations = (
  secret: Pick<UserSecret, "name" | "description" | "env_name" | "file_path" | "enabled">,
  brand: string
): ReadonlyArray<Validation> => {
  const isAimless = secret.enabled && secret.env_name === "" && secret.file_path === ""
  const violations = {
    name: nameViolation(secret.name),
    description: descriptionViolation(secret.description),
    env_name: isAimless ? "an enabled secret needs env_name or file_path" : environmentViolation(secret.env_name, brand),
    file_path: pathViolation(secret.file_path)
  }
  return validationsOf(violations)
}

/** The limit that a user with these secrets would exceed, or undefined. */
export const exceededLimit = (secrets: ReadonlyArray<Pick<UserSecret, "env_name" | "value_size">>): string | undefined => {
  const total = (some: typeof secrets): number => some.reduce((sum, { value_size }) => sum + value_size, 0)
  if (secrets.length > maximumSecrets) return `A user can have at most ${maximumSecrets} secrets.`
  if (total(secrets) > maximumTotalSize) return `The values of a user's secrets can have at most ${maximumTotalSize} bytes together.`
  return total(secrets.filter(({ env_name }) => env_name !== "")) > maximumEnvironmentSize
    ? `The values of a user's secrets that are environment variables can have at most ${maximumEnvironmentSize} bytes together.`
    : undefined
}
