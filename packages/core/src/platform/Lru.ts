/** A map of bounded size: what was used least recently makes room. */
export interface Lru<K, V> {
  /** The value of the key, which counts as used now. */
  readonly get: (key: K) => V | undefined
  readonly set: (key: K, value: V) => void
}

/** An empty map for at most `capacity` entries. */
export const make = <K, V extends NonNullable<unknown>>(capacity: number): Lru<K, V> => {
  const entries = new Map<K, V>()
  return {
    get: (key) => {
      const value = entries.get(key)
      if (value === undefined) return undefined
      // A Map iterates in the order of insertion: the first entry is the one to go
      entries.delete(key)
      entries.set(key, value)
      return value
    },
    set: (key, value) => {
      entries.delete(key)
      entries.set(key, value)
      if (entries.size > capacity) for (const oldest of entries.keys()) return void entries.delete(oldest)
    }
  }
}
