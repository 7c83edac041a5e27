/** Values that the server sends as they change. */
import { useCallback, useEffect, useEffectEvent, useRef, useState } from "react"
import { asAtelierError, statusOf } from "./client.js"
import { mayPass, signIn } from "./queries.js"

export type StreamState = "connecting" | "live" | "ended" | "failed"

export interface LiveOptions<A> {
  /** Opens the stream; undefined opens none. */
  readonly open: ((signal: AbortSignal) => AsyncIterable<A>) | undefined
  /** What the stream is of: another key ends it, and opens the next one. */
  readonly of: ReadonlyArray<string | number | boolean>
  readonly onValue: (value: A) => void
}

const firstPause = 1_000
const maximumPause = 30_000

/**
 * Reads one of the client's streams while the component is shown, and reports its state. It is `live` from its first value. One that fails is opened
 * again after a pause; one that is refused stays `failed`.
 */
export const useLive = <A>({ of, onValue, open }: LiveOptions<A>): { readonly state: StreamState; readonly error: Error | undefined } => {
  const [status, setStatus] = useState<{ readonly state: StreamState; readonly error: Error | undefined }>({
    state: "connecting",
    error: undefined
  })
  const received = useEffectEvent(onValue)
  const opened = useEffectEvent((signal: AbortSignal) => open?.(signal))
  const key = JSON.stringify(of)
  const isOpen = open !== undefined
  useEffect(() => {
    if (!isOpen) return undefined
    const controller = new AbortController()
    const { signal } = controller
    const read = async (): Promise<void> => {
      setStatus({ state: "connecting", error: undefined })
      for (let attempt = 0; ; attempt += 1) {
        try {
          for await (const value of opened(signal) ?? []) {
            if (signal.aborted) return
            setStatus((before) => (before.state === "live" ? before : { state: "live", error: undefined }))
            received(value)
          }
          if (!signal.aborted) setStatus({ state: "ended", error: undefined })
          return
        } catch (error) {
          if (signal.aborted) return
          if (statusOf(error) === 401) signIn()
          setStatus({ state: "failed", error: asAtelierError(error) })
          if (!mayPass(error)) return
        }
        // The client makes a lost connection again, but not one that never was
        await new Promise((resolve) => setTimeout(resolve, Math.min(maximumPause, firstPause * 2 ** attempt)))
        if (signal.aborted) return
      }
    }
    void read()
    return () => controller.abort(new Error("The screen was left."))
  }, [key, isOpen])
  return status
}

const flushAfter = 50

const maximumKept = 50_000

/** A list that grows quickly, such as a log: what came is drawn some times in a second, and its newest items are kept. */
export const useGrowing = <A>(): readonly [items: ReadonlyArray<A>, add: (items: ReadonlyArray<A>) => void] => {
  const [items, setItems] = useState<ReadonlyArray<A>>([])
  const waiting = useRef<Array<A>>([])
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const add = useCallback((more: ReadonlyArray<A>) => {
    for (const item of more) waiting.current.push(item)
    timer.current ??= setTimeout(() => {
      const next = waiting.current
      waiting.current = []
      timer.current = undefined
      setItems((before) => [...before, ...next].slice(-maximumKept))
    }, flushAfter)
  }, [])
  return [items, add]
}
