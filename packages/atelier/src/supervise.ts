/** Starts the processes that serve one address, and watches over them. */
import cluster, { type Worker } from "node:cluster"
import { setTimeout as sleep } from "node:timers/promises"

/** The variable by which a process knows its number. */
export const numberVariable = "STANDALONE_PROCESS"

/** Tells a process to end, as if it had received the signal by itself. */
export interface End {
  readonly end: NodeJS.Signals
}

export const isEnd = (message: unknown): message is End => typeof message === "object" && message !== null && "end" in message

const isReady = (message: unknown): message is { readonly greeting: string } =>
  typeof message === "object" && message !== null && "greeting" in message

/** Milliseconds between two starts of a process of one number. */
const restartInterval = { least: 1_000, most: 30_000 }

/** The interval of the next start: one that ends again and again before it serves takes its time from the others. */
export const intervalAfter = (interval: number, served: boolean): number =>
  served ? restartInterval.least : Math.min(interval * 2, restartInterval.most)

interface Ending {
  readonly code: number
  readonly reason: string
}

interface Life {
  /** The greeting, once the process answers requests; undefined if it ends before. */
  readonly ready: Promise<string | undefined>
  readonly over: Promise<Ending>
  readonly tell: (end: End) => void
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
 * clients would wait for ever.
 */
const closeUnaccepted = (worker: Worker): void => {
  const { send } = worker.process
  // A process that could not be started has no channel
  if (typeof send !== "function") return
  const pending = new Map<unknown, { readonly close: () => void }>()
  Object.assign(worker.process, {
    send: (...words: ReadonlyArray<unknown>): unknown => {
      const [message, handle] = words
      if (isConnection(message) && isOpen(handle)) pending.set(message.seq, handle)
      return Reflect.apply(send, worker.process, words)
    }
  })
  worker.process.on("internalMessage", (message: unknown) => {
    if (isAnswer(message)) pending.delete(message.ack)
  })
  // Node does not report that the channel is closed while the process has a connection to confirm
  worker.once("exit", () => {
    for (const handle of pending.values()) handle.close()
  })
}

const lifeOf = (worker: Worker, spoke: () => void): Life => {
  closeUnaccepted(worker)
  const over = new Promise<Ending>((resolve) => {
    worker.once("exit", (code: number | null, signal: string | null) => resolve({ code: code ?? 1, reason: signal ?? String(code) }))
    // The others are words for a process that has just died, whose exit follows
    worker.on("error", ({ message }) => {
      if (worker.process.pid === undefined) resolve({ code: 1, reason: message })
    })
  })
  const ready = new Promise<string | undefined>((resolve) => {
    worker.on("message", (message: unknown) => {
      spoke()
      if (isReady(message)) resolve(message.greeting)
    })
    void over.then(() => resolve(undefined))
  })
  return {
    ready,
    over,
    tell: (end) => {
      if (worker.isConnected()) worker.send(end)
    }
  }
}

/** `spoke` is called at each word of the process. */
const begin = (number: number, spoke: () => void): Life => {
  try {
    return lifeOf(cluster.fork({ [numberVariable]: String(number) }), spoke)
  } catch (error) {
    // Node reports most reasons by an event, and others, such as a lack of memory, at once
    const over = Promise.resolve({ code: 1, reason: error instanceof Error ? error.message : String(error) })
    return { ready: Promise.resolve(undefined), over, tell: () => undefined }
  }
}

/**
 * Keeps `count` processes until `ended` resolves, which ends them all, and returns the exit code. A process that dies is replaced; one that does
 * not get to serve at the start ends the server. The first starts alone: it brings the database up to date.
 */
export const supervise = async (count: number, ended: Promise<NodeJS.Signals>): Promise<number> => {
  const living = new Map<number, Life>()
  let end: End | undefined
  const endAll = (signal: NodeJS.Signals): void => {
    end ??= { end: signal }
    for (const { tell } of living.values()) tell(end)
  }
  const start = (number: number): Life => {
    // A message to a process that does not listen yet is lost, so the end is sent again once the process listens
    const life: Life = begin(number, () => {
      if (end !== undefined) life.tell(end)
    })
    living.set(number, life)
    return life
  }

  /** Replaces a process as often as it dies; resolves with the exit code of the one that was told to end. */
  const keep = async (number: number, first: Life): Promise<number> => {
    let life = first
    let interval = restartInterval.least
    for (;;) {
      const next = Promise.race([sleep(interval), ended])
      const { code, reason } = await life.over
      living.delete(number)
      if (end !== undefined) return code
      process.stderr.write(`Process ${number} ended with ${reason}; another one takes its place\n`)
      await next
      if (end !== undefined) return code
      interval = intervalAfter(interval, (await life.ready) !== undefined)
      life = start(number)
    }
  }

  void ended.then(endAll)
  const first = start(1)
  const greeting = await first.ready
  const more = greeting === undefined || end !== undefined ? 0 : count - 1
  const lives = [first, ...Array.from({ length: more }, (_, index) => start(index + 2))]
  const greetings = await Promise.all(lives.map(({ ready }) => ready))
  const failed = end === undefined ? greetings.indexOf(undefined) : -1
  if (failed !== -1) {
    endAll("SIGTERM")
    const endings = await Promise.all(lives.map(({ over }) => over))
    const { code = 1, reason } = endings[failed] ?? {}
    process.stderr.write(`Process ${failed + 1} ended with ${reason} before it served\n`)
    return code || 1
  }
  if (greeting !== undefined && end === undefined) process.stdout.write(greeting)
  return Math.max(...(await Promise.all(lives.map((life, index) => keep(index + 1, life)))))
}
