/** Whether the server can be reached, as the requests of the page find it. */

type State = "up" | "lost"

let state: State = "up"
const listeners = new Set<() => void>()

export const connectionState = (): State => state

export const onConnection = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const reportConnection = (next: State): void => {
  if (next === state) return
  state = next
  for (const listener of listeners) listener()
}
