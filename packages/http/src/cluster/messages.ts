/** What the process that was started and those that it has started tell each other. */

/** The variable by which a process knows that it is one of several: its place as JSON. */
export const placeVariable = "CLUSTER_WORKER"

/** What a process knows of itself from its start on. */
export interface Place {
  /** From 1. A process that takes the place of another one has its number. */
  readonly number: number
  /** A directory that only the user of these processes can enter, for their sockets. */
  readonly directory: string
}

export type Activity = "starting" | "serving" | "silent" | "ending" | "dead"

/** A worker as the process that has started it sees it. */
export interface WorkerState {
  readonly number: number
  /** Undefined for a process that could not be started. */
  readonly pid: number | undefined
  readonly activity: Activity
  /** Milliseconds since 1970. */
  readonly since: number
  /** How often a process was started for this number. */
  readonly starts: number
}

/** Why a worker ends. */
export interface End {
  readonly signal: NodeJS.Signals
  /** Whether another process takes its place at once, while the others go on to serve. */
  readonly isReplaced: boolean
}

/** The answer of one worker to a question to all. */
export interface Answer {
  readonly number: number
  readonly value: unknown
}

/** What a worker is told. */
export type Told =
  | { readonly kind: "end"; readonly end: End }
  | { readonly kind: "states"; readonly states: ReadonlyArray<WorkerState> }
  | { readonly kind: "ping" }
  | { readonly kind: "question"; readonly id: number }
  | { readonly kind: "answers"; readonly id: number; readonly answers: ReadonlyArray<Answer> }
  /** No connection is on its way to the worker any more. */
  | { readonly kind: "left" }

/** What a worker says. */
export type Said =
  | { readonly kind: "listens" }
  | { readonly kind: "serves"; readonly greeting: string }
  /** It takes no more connections, and hands back those that are on their way to it. */
  | { readonly kind: "leaves" }
  | { readonly kind: "pong" }
  | { readonly kind: "ask"; readonly id: number }
  | { readonly kind: "answer"; readonly id: number; readonly value: unknown }

const kindsOf = <Message extends Told | Said>(kinds: ReadonlyArray<Message["kind"]>) => {
  const known: ReadonlySet<unknown> = new Set(kinds)
  return (message: unknown): message is Message =>
    typeof message === "object" && message !== null && "kind" in message && known.has(message.kind)
}

/** Both ends are the same version of this module; a host may send messages of its own. */
export const isTold = kindsOf<Told>(["end", "states", "ping", "question", "answers", "left"])
export const isSaid = kindsOf<Said>(["listens", "serves", "leaves", "pong", "ask", "answer"])
