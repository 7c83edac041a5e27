import { Option } from "effect"

/** Ids travel as the 16 bytes of a UUID; everywhere else they are its text. */

const uuidBytes = 16

const pattern = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

/** The text of 16 bytes, in lower case; none for any other number of bytes. */
export const fromBytes = (bytes: Uint8Array): Option.Option<string> => {
  if (bytes.length !== uuidBytes) return Option.none()
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
  return Option.some(digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"))
}

/** The 16 bytes of a UUID's text; none for any other text. */
export const toBytes = (uuid: string): Option.Option<Uint8Array> => {
  if (!pattern.test(uuid)) return Option.none()
  const digits = uuid.replaceAll("-", "")
  return Option.some(Uint8Array.from({ length: uuidBytes }, (_, index) => Number.parseInt(digits.slice(2 * index, 2 * index + 2), 16)))
}
