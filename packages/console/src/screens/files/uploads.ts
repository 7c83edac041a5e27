/** The uploads to an agent: one after the other, each with its progress. */
import { useEffect, useRef, useState } from "react"
import { asAtelierError, statusOf } from "../../app/client.js"
import { signIn } from "../../app/sessionEnd.js"
import { type Expected, upload } from "./transfer.js"

/** A file that the user chose, and where it goes. */
export interface Chosen {
  readonly path: string
  /** What the user knows it by: its path below the folder that was dropped, or its name. */
  readonly name: string
  readonly file: File
}

export interface Upload extends Chosen {
  readonly id: number
  readonly sent: number
  readonly state: "waiting" | "running" | "taken" | "failed"
  /** Why it failed. */
  readonly message?: string
}

interface Running {
  readonly id: number
  readonly controller: AbortController
}

/**
 * Uploads that go on while the component is shown. They wait while there is no agent, which is given by its id. A name that is taken waits for the
 * user's answer. `onDone` gets those that are there when no other goes on.
 */
export const useUploads = (agent: string | undefined, onDone: (uploads: ReadonlyArray<Upload>) => void) => {
  const [all, setAll] = useState<ReadonlyArray<Upload>>([])
  const next = useRef(0)
  const running = useRef<Running | undefined>(undefined)
  const replacing = useRef(new Set<number>())
  const done = useRef<ReadonlyArray<Upload>>([])

  const change = (id: number, to: Partial<Upload>): void =>
    setAll((before) => before.map((each) => (each.id === id ? { ...each, ...to } : each)))
  const forget = (id: number): void => setAll((before) => before.filter((each) => each.id !== id))

  const run = async (agent: string, one: Upload): Promise<void> => {
    const controller = new AbortController()
    running.current = { id: one.id, controller }
    change(one.id, { state: "running", sent: 0 })
    const expected: Expected = replacing.current.has(one.id) ? undefined : { none: true }
    try {
      const place = { agent, path: one.path }
      await upload(place, one.file, { expected, signal: controller.signal, onProgress: (sent) => change(one.id, { sent }) })
      done.current = [...done.current, one]
      forget(one.id)
    } catch (error) {
      if (controller.signal.aborted) return forget(one.id)
      if (statusOf(error) === 401) signIn()
      if (statusOf(error) === 412) change(one.id, { state: "taken" })
      else change(one.id, { state: "failed", message: asAtelierError(error).message })
    } finally {
      running.current = undefined
    }
  }

  useEffect(() => {
    const first = all.find(({ state }) => state === "waiting")
    if (running.current !== undefined) return
    if (first === undefined && done.current.length > 0) {
      const there = done.current
      done.current = []
      onDone(there)
    } else if (agent !== undefined && first !== undefined) void run(agent, first)
  })
  useEffect(() => () => running.current?.controller.abort(new Error("The screen was left.")), [])

  return {
    all,
    add: (chosen: ReadonlyArray<Chosen>): void => {
      const added = chosen.map((each): Upload => ({ ...each, id: next.current++, sent: 0, state: "waiting" }))
      setAll((before) => [...before, ...added])
    },
    /** Ends an upload, or takes a failed one out of the list. */
    remove: (id: number): void => {
      if (running.current?.id === id) running.current.controller.abort(new Error("The user ended it."))
      else forget(id)
    },
    removeAll: (): void => {
      running.current?.controller.abort(new Error("The user ended it."))
      setAll([])
    },
    replace: (id: number): void => {
      replacing.current.add(id)
      change(id, { state: "waiting" })
    },
    replaceAll: (): void => {
      for (const { id, state } of all) if (state === "taken") replacing.current.add(id)
      setAll((before) => before.map((each) => (each.state === "taken" ? { ...each, state: "waiting" } : each)))
    }
  }
}
