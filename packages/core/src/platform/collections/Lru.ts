/** A map of bounded size: what was used least recently makes room. */
export interface Lru<K, V> {
  /** The value of the key, which counts as used now. */
  readonly get: (key: K) => V | undefined
  readonly set: (key: K, value: V) => void
}

/** A bound of entries whose sizes differ. */
export interface Weights<K, V> {
  /** The weight of the entries that are kept; twice as much at most, and one entry more. */
  readonly maximum: number
  readonly weightOf: (key: K, value: V) => number
}

/**
 * An empty map for at least the `capacity` entries that were used last, and at most twice as many; fewer where their weights reach the maximum. A use of a recent entry changes
 * nothing: a Map that loses and gains an entry with each request makes V8 keep much of the requests until its next full collection.
 */
export const make = <K, V extends NonNullable<unknown>>(capacity: number, weights?: Weights<K, V>): Lru<K, V> => {
  let recent = new Map<K, V>()
  let older = new Map<K, V>()
  let weight = 0
  const set = (key: K, value: V): void => {
    const added = weights?.weightOf(key, value) ?? 0
    weight += added
    recent.set(key, value)
    if (recent.size <= capacity && weight <= (weights?.maximum ?? 0)) return
    recent.delete(key)
    older = recent
    recent = new Map([[key, value]])
    weight = added
  }
  return {
    get: (key) => {
      const known = recent.get(key)
      if (known !== undefined) return known
      const value = older.get(key)
      if (value !== undefined) set(key, value)
      return value
    },
    set
  }
}
