/** Values that the server sends as they change. */
import { useCallback, useEffect, useEffectEvent, useRef, useState } from "react"
import { asAtelierError, statusOf } from "./client.js"
import { signIn } from "./queries.js"

export type StreamState = "connecting" | "live" | "ended" | "failed"

export interface LiveOptions<A> {
  /** Opens the stream; undefined opens none. */
  readonly open: ((signal: AbortSignal) => AsyncIterable<A>) | undefined
  /** What the stream is of: another key ends it, and opens the next one. */
  readonly of: ReadonlyArray<string | number | boolean>
  readonly onValue: (value: A) => void
}

/**
 * Reads one of the client's streams while the component is shown, and reports its state. The client's streams connect again by themselves; one that is
 * refused stays `failed`.
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
      try {
        for await (const value of opened(signal) ?? []) {
          if (signal.aborted) return
          setStatus((before) => (before.state === "live" ? before : { state: "live", error: undefined }))
          received(value)
        }
        if (!signal.aborted) setStatus({ state: "ended", error: undefined })
      } catch (error) {
        if (signal.aborted) return
        if (statusOf(error) === 401) signIn()
        setStatus({ state: "failed", error: asAtelierError(error) })
      }
    }
    void read()
    return () => controller.abort(new Error("The screen was left."))
  }, [key, isOpen])
  return status
}

const flushAfter = 50

/** A list that grows quickly, such as a log: what came is drawn some times in a second. */
export const useGrowing = <A>(): readonly [items: ReadonlyArray<A>, add: (items: ReadonlyArray<A>) => void] => {
  const [items, setItems] = useState<ReadonlyArray<A>>([])
  const waiting = useRef<Array<A>>([])
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const add = useCallback((more: ReadonlyArray<A>) => {
    waiting.current.push(...more)
    timer.current ??= setTimeout(() => {
      const next = waiting.current
      waiting.current = []
      timer.current = undefined
      setItems((before) => [...before, ...next])
    }, flushAfter)
  }, [])
  return [items, add]
}
