/** The life of one process of a cluster, as the process that starts it sees it. */
import cluster, { type Worker } from "node:cluster"
import { isSaid, type Place, placeVariable, type Said, type Told } from "./messages.js"

export interface Ending {
  readonly code: number
  readonly reason: string
}

export interface Life {
  readonly pid: number | undefined
  /** The greeting, once the process answers requests; undefined if it ends before. */
  readonly ready: Promise<string | undefined>
  readonly over: Promise<Ending>
  /** A process that has ended, or does not listen yet, does not hear it. */
  readonly tell: (message: Told) => void
  readonly kill: () => void
}

const isOpen = (value: unknown): value is { readonly close: () => void } =>
  typeof value === "object" && value !== null && "close" in value && typeof value.close === "function"

/** What Node sends with a connection for a process, and the number by which the process answers it. */
const isConnection = (message: unknown): message is { readonly seq: unknown } =>
  typeof message === "object" && message !== null && "act" in message && message.act === "newconn" && "seq" in message

const isAnswer = (message: unknown): message is { readonly ack: unknown } =>
  typeof message === "object" && message !== null && "ack" in message

/**
 * Closes the connections that a process was being handed when it died. Node keeps them open until the process says that it has them, so that their
 * clients would wait for ever. `isHanded` tells whether none is pending. `listener` is called each time the process has taken or refused all of them.
 */
const closeUnaccepted = (worker: Worker, listener: () => void): { readonly isHanded: () => boolean } => {
  const { send } = worker.process
  const pending = new Map<unknown, { readonly close: () => void }>()
  const isHanded = (): boolean => pending.size === 0
  // A process that could not be started has no channel
  if (typeof send !== "function") return { isHanded }
  Object.assign(worker.process, {
    send: (...words: ReadonlyArray<unknown>): unknown => {
      const [message, handle] = words
      if (isConnection(message) && isOpen(handle)) pending.set(message.seq, handle)
      return Reflect.apply(send, worker.process, words)
    }
  })
  worker.process.on("internalMessage", (message: unknown) => {
    if (isAnswer(message) && pending.delete(message.ack) && isHanded()) listener()
  })
  // Node does not report that the channel is closed while the process has a connection to confirm
  worker.once("exit", () => {
    for (const handle of pending.values()) handle.close()
  })
  return { isHanded }
}

const lifeOf = (worker: Worker, heard: (message: Said) => void): Life => {
  const tell = (message: Told): void => {
    if (worker.isConnected()) worker.send(message)
  }
  let leaves = false
  const { isHanded } = closeUnaccepted(worker, () => leaves && tell({ kind: "left" }))
  const over = new Promise<Ending>((resolve) => {
    worker.once("exit", (code: number | null, signal: string | null) => resolve({ code: code ?? 1, reason: signal ?? String(code) }))
    // The others are words for a process that has just died, whose exit follows
    worker.on("error", ({ message }) => {
      if (worker.process.pid === undefined) resolve({ code: 1, reason: message })
    })
  })
  const ready = new Promise<string | undefined>((resolve) => {
    worker.on("message", (message: unknown) => {
      if (!isSaid(message)) return
      if (message.kind === "serves") resolve(message.greeting)
      if (message.kind === "leaves") {
        leaves = true
        if (isHanded()) tell({ kind: "left" })
      }
      heard(message)
    })
    void over.then(() => resolve(undefined))
  })
  return {
    pid: worker.process.pid,
    ready,
    over,
    tell,
    kill: () => void worker.process.kill("SIGKILL")
  }
}

/** Starts a process. `heard` is called with each of its words. */
export const begin = (place: Place, heard: (message: Said) => void): Life => {
  try {
    return lifeOf(cluster.fork({ [placeVariable]: JSON.stringify(place) }), heard)
  } catch (error) {
    // Node reports most reasons by an event, and others, such as a lack of memory, at once
    const over = Promise.resolve({ code: 1, reason: error instanceof Error ? error.message : String(error) })
    return { pid: undefined, ready: Promise.resolve(undefined), over, tell: () => undefined, kill: () => undefined }
  }
}
