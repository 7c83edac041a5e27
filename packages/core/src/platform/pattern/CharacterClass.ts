/** Sets of characters, as patterns name them. https://github.com/google/re2/wiki/Syntax */
import { Either } from "effect"

/** Whether a code point belongs to the set. */
export type CharacterClass = (codePoint: number) => boolean

export const newline = 0x0a

export const anyCharacter: CharacterClass = () => true

export const character =
  (wanted: number): CharacterClass =>
  (codePoint) =>
    codePoint === wanted

/** The last one included. */
export const between =
  (first: number, last: number): CharacterClass =>
  (codePoint) =>
    codePoint >= first && codePoint <= last

export const not =
  (excluded: CharacterClass): CharacterClass =>
  (codePoint) =>
    !excluded(codePoint)

export const either =
  (classes: ReadonlyArray<CharacterClass>): CharacterClass =>
  (codePoint) =>
    classes.some((accepts) => accepts(codePoint))

/** A letter belongs to it when one of its cases does. */
export const inAnyCase =
  (accepts: CharacterClass): CharacterClass =>
  (codePoint) => {
    if (accepts(codePoint)) return true
    const letter = String.fromCodePoint(codePoint)
    return [letter.toLowerCase(), letter.toUpperCase()].some(
      (folded) => folded.length === letter.length && accepts(folded.codePointAt(0) ?? codePoint)
    )
  }

export const isWord: CharacterClass = (codePoint) => /^\w$/.test(String.fromCodePoint(codePoint))

/** From the first character of each text to its last. */
const ranges = (...texts: ReadonlyArray<string>): CharacterClass =>
  either(texts.map((range) => between(range.charCodeAt(0), range.charCodeAt(range.length - 1))))

const own = <A>(record: Readonly<Record<string, A>>, key: string): A | undefined => (Object.hasOwn(record, key) ? record[key] : undefined)

const perlClasses: Readonly<Record<string, CharacterClass>> = {
  d: ranges("09"),
  // Not the vertical tab
  s: (codePoint) => codePoint === 0x20 || (codePoint >= 0x09 && codePoint <= 0x0d && codePoint !== 0x0b),
  w: isWord
}

/** What a letter behind a backslash stands for; its complement in upper case. */
export const perlClass = (letter: string): CharacterClass | undefined => {
  const accepts = own(perlClasses, letter.toLowerCase())
  return accepts === undefined || letter === letter.toLowerCase() ? accepts : not(accepts)
}

const posixClasses: Readonly<Record<string, CharacterClass>> = {
  alnum: ranges("09", "AZ", "az"),
  alpha: ranges("AZ", "az"),
  ascii: between(0, 0x7f),
  blank: ranges(" ", "\t"),
  cntrl: either([between(0, 0x1f), character(0x7f)]),
  digit: ranges("09"),
  graph: ranges("!~"),
  lower: ranges("az"),
  print: ranges(" ~"),
  punct: ranges("!/", ":@", "[`", "{~"),
  space: ranges(" ", "\t\r"),
  upper: ranges("AZ"),
  word: isWord,
  xdigit: ranges("09", "AF", "af")
}

/** The name of `[:name:]`. */
export const posixClass = (name: string): CharacterClass | undefined => own(posixClasses, name)

/** A general category or a script of Unicode, by the name RE2 gives it. */
export const unicodeClass = (name: string): CharacterClass | undefined => {
  if (!/^[A-Za-z_]+$/.test(name)) return undefined
  for (const property of [`General_Category=${name}`, `Script=${name}`]) {
    const expression = Either.getOrUndefined(Either.try(() => new RegExp(`^\\p{${property}}$`, "u")))
    if (expression !== undefined) return (codePoint) => expression.test(String.fromCodePoint(codePoint))
  }
  return undefined
}

const controls: Readonly<Record<string, number>> = { a: 0x07, f: 0x0c, n: newline, r: 0x0d, t: 0x09, v: 0x0b }

/** The character that a letter behind a backslash stands for. */
export const controlCharacter = (letter: string): number | undefined => own(controls, letter)
