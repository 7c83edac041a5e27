/** Results that are expensive to make again and mostly asked for again, with the inputs that they were made of. */
export interface Remembered<A> {
  /**
   * Returns what `make` last returned under the key if the inputs are the same as then, and calls it otherwise. `make` must depend on nothing but the inputs, and its callers share
   * the result. Inputs are the same if they are one value, or lists of the same values.
   */
  readonly get: (key: string, inputs: ReadonlyArray<unknown>, make: () => A) => A
}

interface Entry<A> {
  readonly inputs: ReadonlyArray<unknown>
  readonly result: A
}

/** What a value other than a text weighs: about as much memory as so many characters. */
const perValue = 16

/** Characters of a property's name that count for nothing: names of columns are shared by all records. A longer name is data. */
const namesLength = 64

/** About how many bytes a value takes; `enough` or more as soon as it is known to take so many. */
const weightOf = (value: unknown, enough: number): number => {
  if (typeof value === "string") return perValue + value.length
  if (typeof value !== "object" || value === null) return perValue
  let weight = perValue
  for (const key in value) {
    if (weight >= enough) return weight
    if (key.length > namesLength) weight += key.length
    weight += weightOf(Reflect.get(value, key), enough - weight)
  }
  return weight
}

const isSame = (left: unknown, right: unknown): boolean =>
  left === right ||
  (Array.isArray(left) && Array.isArray(right) && left.length === right.length && left.every((item, index) => item === right[index]))

/** A single result that takes more than this part of the room is not kept. */
const largestPart = 16

/** Keeps results of about so many bytes that were used last, and at most twice as many. Like `Lru`, a use of a recent one changes nothing. */
export const make = <A>(bytes: number): Remembered<A> => {
  const largest = Math.floor(bytes / largestPart)
  let recent = new Map<string, Entry<A>>()
  let older = new Map<string, Entry<A>>()
  let weight = 0
  const keep = (key: string, entry: Entry<A>): void => {
    const added = weightOf(entry.result, largest)
    if (added >= largest) return
    // One that takes the place of another counts too: the recent ones are fewer then
    weight += added
    if (weight > bytes) {
      older = recent
      recent = new Map()
      weight = added
    }
    recent.set(key, entry)
  }
  return {
    get: (key, inputs, make) => {
      const known = recent.get(key)
      const entry = known ?? older.get(key)
      if (entry !== undefined && inputs.every((input, index) => isSame(input, entry.inputs[index]))) {
        if (known === undefined) keep(key, entry)
        return entry.result
      }
      const result = make()
      keep(key, { inputs, result })
      return result
    }
  }
}
