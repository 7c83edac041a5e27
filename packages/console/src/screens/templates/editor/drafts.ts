/** Changed files that are not built yet, kept in this browser: they outlive the page, its session and a crash. */
import type { SourceFile } from "../source/archive.js"

export interface Draft {
  /** The changed files by path; null for those that were deleted. */
  readonly changes: ReadonlyMap<string, SourceFile | null>
  /** The version that was built of them last. */
  readonly built: { readonly id: string; readonly isCurrent: boolean } | undefined
  /** Milliseconds since 1970. */
  readonly at: number
}

const store = "drafts"

const opened = (): Promise<IDBDatabase> =>
  new Promise((resolve, reject) => {
    const request = indexedDB.open("atelier", 1)
    request.addEventListener("upgradeneeded", () => request.result.createObjectStore(store))
    request.addEventListener("success", () => resolve(request.result))
    request.addEventListener("error", () => reject(request.error ?? new Error("The browser's store cannot be opened.")))
    request.addEventListener("blocked", () => reject(new Error("The browser's store is in use.")))
  })

const within = async <A>(mode: IDBTransactionMode, run: (drafts: IDBObjectStore) => IDBRequest<A>): Promise<A> => {
  const database = await opened()
  try {
    return await new Promise<A>((resolve, reject) => {
      const transaction = database.transaction(store, mode, { durability: "strict" })
      const request = run(transaction.objectStore(store))
      transaction.addEventListener("complete", () => resolve(request.result))
      transaction.addEventListener("abort", () => reject(transaction.error ?? new Error("The browser did not store the changes.")))
    })
  } finally {
    database.close()
  }
}

/** The draft of this key; undefined if there is none, or no store. */
export const loadDraft = async (key: string): Promise<Draft | null> => {
  try {
    return (await within<Draft | undefined>("readonly", (drafts) => drafts.get(key))) ?? null
  } catch {
    return null
  }
}

/** Keeps a draft; null removes it. Fails where the browser has no store, or no room. */
export const saveDraft = async (key: string, draft: Draft | null): Promise<void> => {
  if (draft === null) await within("readwrite", (drafts) => drafts.delete(key))
  else await within("readwrite", (drafts) => drafts.put(draft, key))
}
