/** Changed files that are not built yet, kept in this browser: they outlive the page, its session and a crash. */
import type { SourceFile } from "../source/archive.js"
import { latestOnly } from "./latest.js"

export interface Draft {
  /** The changed files by path; null for those that were deleted. */
  readonly changes: ReadonlyMap<string, SourceFile | null>
  /** The version that was built of them last. */
  readonly built: { readonly id: string; readonly isCurrent: boolean } | undefined
  /** Milliseconds since 1970. */
  readonly at: number
}

const store = "drafts"

/** A draft that was left for so long is removed, in milliseconds. */
const lifetime = 30 * 24 * 60 * 60 * 1_000

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

/** Removes the drafts that are old, or of a user. */
const removeWhere = (isGone: (key: IDBValidKey, draft: Draft) => boolean): Promise<unknown> =>
  within("readwrite", (drafts) => {
    const request = drafts.openCursor()
    request.addEventListener("success", () => {
      const cursor = request.result
      if (cursor === null) return
      if (isGone(cursor.key, cursor.value)) cursor.delete()
      cursor.continue()
    })
    return request
  })

const writes = latestOnly()

/** The name of a user's draft of a version. */
export const draftName = (user: string, version: string): string => `${user} ${version}`

/** Removes all drafts of a user. */
export const forgetDrafts = async (user: string): Promise<void> => {
  await removeWhere((key) => String(key).startsWith(draftName(user, "")))
}

/** The draft of this key; null without a draft, or without a store. */
export const loadDraft = async (key: string): Promise<Draft | null> => {
  // The editor that was left may still be writing
  await writes.settled(key)
  try {
    const oldest = Date.now() - lifetime
    await removeWhere((_, { at }) => at < oldest)
    return (await within<Draft | undefined>("readonly", (drafts) => drafts.get(key))) ?? null
  } catch {
    return null
  }
}

/** Keeps the draft as it is when its turn comes; null removes it. Fails where the browser has no store, or no room. */
export const saveDraft = (key: string, newest: () => Draft | null): Promise<void> =>
  writes.run(key, async () => {
    const draft = newest()
    if (draft === null) await within("readwrite", (drafts) => drafts.delete(key))
    else await within("readwrite", (drafts) => drafts.put(draft, key))
  })

/** Whether the newest draft of this key is still to be stored. */
export const isSaving = (key: string): boolean => writes.isRunning(key)
