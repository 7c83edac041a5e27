/** The longest address that mail can be sent to (RFC 5321 §4.5.3.1.3, without the angle brackets). */
const maximumLength = 254

const local = /^[a-z0-9!#$%&'*+/=?^_`{|}~\u00a0-\uffef-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~\u00a0-\uffef-]+)*$/i
const quotedLocal = /^"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"$/
const label = /^[a-z0-9\u00a0-\uffef](?:[a-z0-9\u00a0-\uffef-]*[a-z0-9\u00a0-\uffef])?$/i

/** Whether a text is an address of the form `local@domain.tld` (RFC 5322 §3.4.1, with the characters of RFC 6531). identity.md §1.4. */
export const isEmailAddress = (text: string): boolean => {
  if (text.length > maximumLength) return false
  const at = text.lastIndexOf("@")
  const name = text.slice(0, Math.max(0, at))
  const labels = text.slice(at + 1).split(".")
  return (local.test(name) || quotedLocal.test(name)) && labels.length > 1 && labels.every((each) => each.length < 64 && label.test(each))
}

const folded = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/** Whether two addresses are one but for the case of ASCII letters: others, like the Kelvin sign, are other people's. */
export const isSameAddress = (left: string, right: string): boolean => folded(left) === folded(right)
