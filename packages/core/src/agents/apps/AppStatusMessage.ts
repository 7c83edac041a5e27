/** The limits of a program's status message, and its cleaning before it is shown. agents-and-apps.md §6. */

/** Bytes of a message in UTF-8, before it is cleaned. */
export const maximumMessage = 160

const escaped = /^(?:[^"\\\n]|\\(?:[abfnrtv\\"]|[0-3][0-7]{2}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}))*$/

const controls: Readonly<Record<string, number>> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11 }

/** The text that a quoted one stands for, in the notation of Go string literals; undefined when it is not in that notation. */
export const unquote = (text: string): string | undefined => {
  if (!escaped.test(text)) return undefined
  const bytes: Array<number> = []
  const encoder = new TextEncoder()
  const tokens = text.matchAll(/\\(?:([abfnrtv\\"])|([0-7]{3})|x(..)|u(.{4})|U(.{8}))|[^\\]+/g)
  for (const [token, letter, octal, hex, short, long] of tokens) {
    const codePoint = Number.parseInt(short ?? long ?? "", 16)
    if (letter !== undefined) bytes.push(controls[letter] ?? letter.charCodeAt(0))
    else if (octal !== undefined) bytes.push(Number.parseInt(octal, 8))
    else if (hex !== undefined) bytes.push(Number.parseInt(hex, 16))
    else if (Number.isNaN(codePoint)) bytes.push(...encoder.encode(token))
    else if (codePoint > 0x10ffff || (codePoint >= 0xd800 && codePoint <= 0xdfff)) return undefined
    else bytes.push(...encoder.encode(String.fromCodePoint(codePoint)))
  }
  return new TextDecoder().decode(Uint8Array.from(bytes))
}

/** Escape sequences of terminals (ECMA-48): control sequences, operating-system commands, and single ones. */
// oxlint-disable-next-line no-control-regex -- they begin with a control character
const ansi = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[PX^_][^\u001b]*\u001b\\|[ -/]*[0-~])/g

const htmlTag = /<\/?[a-zA-Z][^<>]*>|<!--[\s\S]*?-->/g

/** One line of printable text. */
export const cleanMessage = (message: string): string =>
  (unquote(message) ?? message)
    .replaceAll(htmlTag, "")
    .replaceAll(ansi, "")
    .replaceAll(/\s/g, " ")
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, "")
    // Last: what was removed may have stood between two spaces
    .replaceAll(/ +/g, " ")
    .trim()
