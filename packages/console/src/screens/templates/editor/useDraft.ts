/** The files that are edited: those of a version, with the changes that this browser keeps. */
import { useCallback, useEffect, useRef, useState } from "react"
import type { Source, SourceFile } from "../source/archive.js"
import { changesOf } from "../source/difference.js"
import { type Draft, isSaving, saveDraft } from "./drafts.js"

export type Files = ReadonlyMap<string, SourceFile>

/** The version that was built last, and its files. */
export interface Built {
  readonly id: string
  readonly files: Files | undefined
}

const withChanges = (source: Source, draft: Draft | null): Files => {
  const files = new Map(source.files)
  for (const [path, file] of draft?.changes ?? []) {
    if (file === null) files.delete(path)
    else files.set(path, file)
  }
  return files
}

interface Options {
  /** The user whose changes these are, and the version that they change. */
  readonly name: string
  readonly source: Source
  /** What was kept before. */
  readonly draft: Draft | null
}

export const useDraft = ({ draft, name, source }: Options) => {
  const [files, setFiles] = useState(() => withChanges(source, draft))
  const [built, setBuilt] = useState<Built | undefined>(() =>
    draft?.built === undefined ? undefined : { id: draft.built.id, files: draft.built.isCurrent ? files : undefined }
  )
  const [isKept, setKept] = useState(true)
  const newest = useRef({ files, built })
  const isOver = useRef(false)

  /** Stores what is newest when its turn comes. */
  const keep = useCallback(async (): Promise<void> => {
    const draftNow = (): Draft | null => {
      const { built, files } = newest.current
      const changes = changesOf(source, { files, others: [] })
      if (isOver.current || (changes.length === 0 && built === undefined)) return null
      return {
        changes: new Map(changes.map(({ after, path }) => [path, after ?? null])),
        built: built === undefined ? undefined : { id: built.id, isCurrent: built.files === files },
        at: Date.now()
      }
    }
    try {
      await saveDraft(name, draftNow)
      setKept(true)
    } catch {
      setKept(false)
    }
  }, [name, source])

  const isFirst = useRef(true)
  useEffect(() => {
    newest.current = { files, built }
    if (isFirst.current) isFirst.current = false
    else void keep()
  }, [files, built, keep])

  return {
    files,
    setFiles,
    built,
    setBuilt,
    /** Whether the browser stores the changes. */
    isKept,
    /** Whether it is still storing them. */
    isSaving: (): boolean => isSaving(name),
    /** Resolves when all changes are stored. */
    keep,
    /** The changes are published or given up: they are kept no longer. */
    end: (): Promise<void> => {
      isOver.current = true
      return keep()
    },
    /** The user goes on with changes that were published: they are kept again. */
    goOn: (): Promise<void> => {
      isOver.current = false
      return keep()
    }
  }
}
