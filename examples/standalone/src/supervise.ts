/** Starts the processes that serve one address, and watches over them. */
import cluster, { type Worker } from "node:cluster"
import { once } from "node:events"
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
const restartInterval = 1_000

interface Life {
  /** The greeting, once the process answers requests; undefined if it ends before. */
  readonly ready: Promise<string | undefined>
  readonly over: Promise<{ readonly code: number; readonly reason: string }>
  readonly worker: Worker
}

const isOpen = (value: unknown): value is { readonly close: () => void } =>
  typeof value === "object" && value !== null && "close" in value && typeof value.close === "function"

/**
 * Closes the connection that a process was being handed when it died. Node keeps it open until the process says that it has it, so that its client
 * would wait for ever.
 */
const closeUnaccepted = (worker: Worker): void => {
  const { send } = worker.process
  let latest: unknown
  Object.assign(worker.process, {
    send: (...words: ReadonlyArray<unknown>): unknown => {
      latest = words[1] ?? latest
      return Reflect.apply(send, worker.process, words)
    }
  })
  worker.once("exit", () => {
    if (isOpen(latest)) latest.close()
  })
}

const begin = (number: number): Life => {
  const worker = cluster.fork({ [numberVariable]: String(number) })
  closeUnaccepted(worker)
  const over = once(worker, "exit").then(([code, signal]: ReadonlyArray<number | string | null>) => ({
    code: typeof code === "number" ? code : 1,
    reason: typeof signal === "string" ? signal : String(code)
  }))
  const ready = new Promise<string | undefined>((resolve) => {
    worker.on("message", (message: unknown) => {
      if (isReady(message)) resolve(message.greeting)
    })
    void over.then(() => resolve(undefined))
  })
  return { ready, over, worker }
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
    for (const { worker } of living.values()) if (worker.isConnected()) worker.send(end)
  }
  const start = (number: number): Life => {
    const life = begin(number)
    living.set(number, life)
    return life
  }

  /** Replaces a process as often as it dies; resolves with the exit code of the one that was told to end. */
  const keep = async (number: number, first: Life): Promise<number> => {
    let life = first
    for (;;) {
      const { code, reason } = await Promise.all([life.over, Promise.race([sleep(restartInterval), ended])]).then(([over]) => over)
      living.delete(number)
      if (end !== undefined) return code
      process.stderr.write(`Process ${number} ended with ${reason}; another one takes its place\n`)
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
    const codes = await Promise.all(lives.map(({ over }) => over))
    return codes[failed]?.code || 1
  }
  if (greeting !== undefined && end === undefined) process.stdout.write(greeting)
  return Math.max(...(await Promise.all(lives.map((life, index) => keep(index + 1, life)))))
}
