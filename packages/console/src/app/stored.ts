/** What this browser keeps of the user's choices. */

/** Keeps texts in one of the browser's storages. It may be switched off or full: what it does not take lasts as long as the page. */
const keeper = (storage: () => Storage) => {
  const kept = new Map<string, string | undefined>()
  return {
    /** The value that was stored; null for none. */
    read: (key: string): string | null => {
      if (kept.has(key)) return kept.get(key) ?? null
      try {
        return storage().getItem(key)
      } catch {
        return null
      }
    },
    /** Stores a value; undefined removes it. Tells whether the value will be there when the page has been loaded again. */
    write: (key: string, value: string | undefined): boolean => {
      try {
        if (value === undefined) storage().removeItem(key)
        else storage().setItem(key, value)
        kept.delete(key)
        return true
      } catch {
        kept.set(key, value)
        return false
      }
    }
  }
}

/** Choices, which all windows of the browser share. */
export const { read: stored, write: store } = keeper(() => localStorage)

/** What belongs to one window, and comes back when it is loaded again. */
export const windowStorage = keeper(() => sessionStorage)
