/** How much of what an agent collected is kept. agents-and-apps.md §8. */
import { storable } from "../AgentText.js"

/** Bytes of a value, and of an error, in UTF-8. */
export const maximumValueBytes = 2048

/** Bytes of all keys of one report in UTF-8. */
export const maximumKeyBytes = 6144

const encoder = new TextEncoder()

/** The longest beginning of whole characters that has at most this many bytes. */
const cutBytes = (bytes: Uint8Array, maximum: number): string => {
  let end = maximum
  // Continuation bytes belong to the character before them
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return new TextDecoder().decode(bytes.subarray(0, end))
}

const note = (what: string, bytes: number): string => `${what} of ${bytes} bytes exceeds the maximum of ${maximumValueBytes} bytes`

/** A value and its error in the stored form: trimmed, with an error if one of them is too long. */
export const storedValue = (value: string, error: string): { readonly value: string; readonly error: string } => {
  const [valueText, errorText] = [storable(value.trim()), storable(error.trim())]
  const valueBytes = encoder.encode(valueText)
  const errorBytes = encoder.encode(errorText)
  const keptError = errorBytes.length > maximumValueBytes ? note("error", errorBytes.length) : errorText
  return valueBytes.length > maximumValueBytes
    ? { value: cutBytes(valueBytes, maximumValueBytes), error: note("value", valueBytes.length) }
    : { value: valueText, error: keptError }
}
