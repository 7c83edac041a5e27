/** Server-sent events, as the HTML standard writes them. */
import { type Input, refusalMessage, send } from "./call.js"
import type { Client } from "./Client.js"
import { type End, maximumTimer, type Progress, reconnecting, type Resume, type StreamOptions } from "./stream.js"

const usualIdleTimeout = 45_000

/** One event: its type and its data. */
interface ServerSentEvent {
  readonly type: string
  readonly data: string
}

/** Puts lines together as events. */
const makeParser = () => {
  const decoder = new TextDecoder()
  let rest = ""
  let type = ""
  let data: Array<string> = []
  /** Reads a line; answers an event that it completes. */
  const read = (line: string): ServerSentEvent | undefined => {
    if (line === "") {
      const event = data.length === 0 ? undefined : { type: type === "" ? "message" : type, data: data.join("\n") }
      type = ""
      data = []
      return event
    }
    const colon = line.indexOf(":")
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "")
    if (field === "event") type = value
    if (field === "data") data.push(value)
    return undefined
  }
  return (chunk: Uint8Array): ReadonlyArray<ServerSentEvent> => {
    const text = rest + decoder.decode(chunk, { stream: true })
    // A line feed may follow the carriage return
    const whole = text.endsWith("\r") ? text.slice(0, -1) : text
    const lines = whole.split(/\r\n|\n|\r/)
    rest = (lines.pop() ?? "") + text.slice(whole.length)
    return lines.flatMap((line) => read(line) ?? [])
  }
}

/** Calls `ring` after a silence. Each sign of life calls `heard`. */
const makeAlarm = (milliseconds: number, ring: () => void) => {
  const start = () => setTimeout(ring, Math.min(milliseconds, maximumTimer))
  let timer = start()
  return {
    heard: () => {
      clearTimeout(timer)
      timer = start()
    },
    stop: () => clearTimeout(timer)
  }
}

async function* listen<A>(
  client: Client,
  template: string,
  input: Input,
  { opened, received, signal }: Progress,
  { idleTimeout = usualIdleTimeout }: StreamOptions
): AsyncGenerator<A, End, undefined> {
  const response = await send(client, "GET", template, input, { signal })
  opened()
  const reader = response.body?.getReader()
  if (reader === undefined) return { isOver: false }
  /** Has the service send no more; a read that waits ends. */
  const leave = () => reader.cancel().catch(() => undefined)
  const alarm = makeAlarm(idleTimeout, () => void leave())
  const parse = makeParser()
  let reason: string | undefined
  try {
    for (;;) {
      const chunk = await reader.read().catch((error: unknown) => {
        signal?.throwIfAborted()
        reason = String(error)
        return undefined
      })
      if (chunk?.value === undefined) return { isOver: false, reason }
      alarm.heard()
      for (const { data, type } of parse(chunk.value)) {
        if (type === "error") reason = refusalMessage(JSON.parse(data), "The service reports an error.")
        if (type !== "data" && type !== "message") continue
        const value: A = JSON.parse(data)
        received(value)
        // The silence of the program is not that of the service
        alarm.stop()
        yield value
        alarm.heard()
      }
    }
  } finally {
    alarm.stop()
    await leave()
  }
}

/** The data of events, over as many connections as it takes. */
export const serverSentEvents = <A>(
  client: Client,
  template: string,
  input: Input,
  resume: Resume,
  options: StreamOptions = {}
): AsyncGenerator<A, void, undefined> =>
  reconnecting((position, progress) => listen<A>(client, template, position, progress, options), input, resume, options)
