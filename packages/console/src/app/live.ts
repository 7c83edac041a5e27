/** Values that the server sends as they change. */
import { useCallback, useEffect, useEffectEvent, useRef, useState } from "react"
import { connecting, follow, type StreamState, type StreamStatus } from "./follow.js"

export interface LiveOptions<A> {
  /** Opens the stream; undefined opens none. */
  readonly open: ((signal: AbortSignal) => AsyncIterable<A>) | undefined
  /** What the stream is of: another key ends it, and opens the next one. */
  readonly of: ReadonlyArray<string | number | boolean>
  readonly onValue: (value: A) => void
}

/**
 * Reads one of the client's streams while the component is shown, and reports its state. It is `live` from its first value. One that fails is opened
 * again after a pause; one that is refused stays `failed`.
 */
export const useLive = <A>({ of, onValue, open }: LiveOptions<A>): { readonly state: StreamState; readonly error: Error | undefined } => {
  const [status, setStatus] = useState<StreamStatus>(connecting)
  const received = useEffectEvent(onValue)
  const opened = useEffectEvent((signal: AbortSignal) => open?.(signal))
  const key = JSON.stringify(of)
  const isOpen = open !== undefined
  useEffect(() => {
    if (!isOpen) return undefined
    const controller = new AbortController()
    void follow({
      open: (signal) => opened(signal) ?? [],
      onValue: (value) => received(value),
      onStatus: setStatus,
      signal: controller.signal
    })
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
