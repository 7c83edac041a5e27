/** How strong a password has to be. Everything here is pure. identity.md §6.3. */
const encoder = new TextEncoder()

/** The longest password, in UTF-8 bytes. */
export const maximumBytes = 64

/** The least entropy, in bits. */
const minimumEntropy = 52

interface Class {
  readonly size: number
  readonly has: (character: string) => boolean
  /** The advice for a password without such a character. */
  readonly advice?: string
}

const oneOf = (characters: string): Class["has"] => {
  const set = new Set(characters)
  return (character) => set.has(character)
}

const between =
  (first: string, last: string): Class["has"] =>
  (character) =>
    character >= first && character <= last && character.length === 1

/** The classes of characters in passwords, with their sizes. */
const classes: ReadonlyArray<Class> = [
  { size: 5, has: oneOf("!@$&*"), advice: "more special characters" },
  { size: 5, has: oneOf("_-., ") },
  { size: 22, has: oneOf("\"#%'()+/:;<=>?[\\]^{|}~") },
  { size: 26, has: between("a", "z"), advice: "lower case letters" },
  { size: 26, has: between("A", "Z"), advice: "upper case letters" },
  { size: 10, has: between("0", "9"), advice: "numbers" }
]

const ascending = ["0123456789", "qwertyuiop", "asdfghjkl", "zxcvbnm", "abcdefghijklmnopqrstuvwxyz"].map((text) => Array.from(text))
const sequences = [...ascending, ...ascending.map((sequence) => sequence.toReversed())]

/** Cuts every run of one character to two. */
const withoutRepetition = (characters: ReadonlyArray<string>): ReadonlyArray<string> =>
  characters.filter((character, index) => character !== characters[index - 1] || character !== characters[index - 2])

/** Keeps two characters of each part of a well-known sequence. */
const withoutSequence = (characters: ReadonlyArray<string>, sequence: ReadonlyArray<string>): ReadonlyArray<string> => {
  const left = Array.from(characters)
  let position = 0
  let run = 0
  while (position < left.length) {
    for (const expected of sequence) {
      if (position >= left.length) break
      if (left[position] !== expected) run = 0
      else if (++run > 2) left.splice(position, 1)
      else position++
    }
    position++
  }
  return left
}

/** The bits that a guesser needs: length without predictable parts, times the logarithm of the alphabet's size. */
export const entropy = (password: string): number => {
  const characters = Array.from(password)
  const others = new Set(characters.filter((character) => !classes.some(({ has }) => has(character))))
  const base = classes.reduce((sum, { has, size }) => (characters.some(has) ? sum + size : sum), others.size)
  const unpredictable = sequences.reduce(withoutSequence, withoutRepetition(characters))
  return base === 0 ? 0 : encoder.encode(unpredictable.join("")).length * Math.log2(base)
}

/** Returns why a password is too weak, as advice; undefined if it is strong enough. */
export const violation = (password: string): string | undefined => {
  // The length in UTF-16 is checked first: encoding a text that is far too long costs too much
  if (password.length > maximumBytes || encoder.encode(password).length > maximumBytes) return `must be at most ${maximumBytes} bytes long`
  if (entropy(password) >= minimumEntropy) return undefined
  const missing = classes.flatMap(({ advice, has }) => (advice === undefined || Array.from(password).some(has) ? [] : [advice]))
  return `is too easy to guess: use ${[...missing, "a longer password"].join(", ")}`
}
