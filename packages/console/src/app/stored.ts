/** What this browser keeps of the user's choices. */

/** A browser may have its storage switched off: choices then last as long as the page. */
const kept = new Map<string, string>()

/** The value that was stored; null for none. */
export const stored = (key: string): string | null => {
  try {
    return localStorage.getItem(key)
  } catch {
    return kept.get(key) ?? null
  }
}

/** Stores a value; undefined removes it. */
export const store = (key: string, value: string | undefined): void => {
  try {
    if (value === undefined) localStorage.removeItem(key)
    else localStorage.setItem(key, value)
  } catch {
    if (value === undefined) kept.delete(key)
    else kept.set(key, value)
  }
}
