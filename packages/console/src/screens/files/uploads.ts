/** The uploads of a screen: one after the other, each with its progress. */
import { useEffect, useRef, useState } from "react"
import { asAtelierError, statusOf } from "../../app/client.js"
import { signIn } from "../../app/sessionEnd.js"
import { type Expected, type Place, upload } from "./transfer.js"

export interface Upload {
  readonly id: number
  readonly name: string
  readonly place: Place
  readonly file: File
  readonly sent: number
  readonly state: "waiting" | "running" | "taken" | "failed"
  /** Why it failed. */
  readonly message?: string
}

interface Running {
  readonly id: number
  readonly controller: AbortController
}

/** Uploads that go on while the screen is shown. A name that is taken waits for the user's answer. */
export const useUploads = (onDone: (upload: Upload) => void) => {
  const [all, setAll] = useState<ReadonlyArray<Upload>>([])
  const next = useRef(0)
  const running = useRef<Running | undefined>(undefined)
  const replacing = useRef(new Set<number>())

  const change = (id: number, to: Partial<Upload>): void =>
    setAll((before) => before.map((each) => (each.id === id ? { ...each, ...to } : each)))
  const forget = (id: number): void => setAll((before) => before.filter((each) => each.id !== id))

  const run = async (one: Upload): Promise<void> => {
    const controller = new AbortController()
    running.current = { id: one.id, controller }
    change(one.id, { state: "running", sent: 0 })
    const expected: Expected = replacing.current.has(one.id) ? undefined : { none: true }
    try {
      await upload(one.place, one.file, { expected, signal: controller.signal, onProgress: (sent) => change(one.id, { sent }) })
      forget(one.id)
      onDone(one)
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
    if (first !== undefined && running.current === undefined) void run(first)
  })
  useEffect(() => () => running.current?.controller.abort(new Error("The screen was left.")), [])

  return {
    all,
    add: (places: ReadonlyArray<{ readonly place: Place; readonly file: File }>): void =>
      setAll((before) => [
        ...before,
        ...places.map(({ file, place }): Upload => ({ id: next.current++, name: file.name, place, file, sent: 0, state: "waiting" }))
      ]),
    /** Ends an upload, or takes a failed one out of the list. */
    remove: (id: number): void => {
      if (running.current?.id === id) running.current.controller.abort(new Error("The user ended it."))
      else forget(id)
    },
    replace: (id: number): void => {
      replacing.current.add(id)
      change(id, { state: "waiting" })
    }
  }
}
