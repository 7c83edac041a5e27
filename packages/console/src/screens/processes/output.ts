/** The output of a process as it comes. */
import { AtelierError } from "@atelier/client"
import * as processes from "@atelier/client/processes"
import { useEffect, useEffectEvent, useRef, useState } from "react"
import { client } from "../../app/client.js"
import type { StreamState } from "../../app/follow.js"
import { useLive } from "../../app/live.js"
import { type Channel, type OutputLine, OutputLines } from "./lines.js"

interface Part {
  readonly channel: Channel
  readonly bytes: Uint8Array
  /** The offset behind it. */
  readonly end: number
}

/** Bytes before the data of a message: a channel, and eight for the offset. docs/sandboxes.md. */
const headLength = 9

const stderrChannel = 2

/** Reads output from an offset on, until the process has ended. A connection that ends before is a failure. */
async function* partsFrom(agent: string, process: string, offset: number, signal: AbortSignal): AsyncGenerator<Part, void, undefined> {
  const socket = await processes.openProcess(client, { workspaceagent: agent, process, offset }, { signal })
  for await (const message of socket) {
    if (typeof message === "string") {
      const { type }: { readonly type?: string } = JSON.parse(message)
      if (type === "exit") return
      continue
    }
    const at = Number(new DataView(message.buffer, message.byteOffset).getBigUint64(1))
    const bytes = message.subarray(headLength + Math.max(0, offset - at))
    yield { channel: message[0] === stderrChannel ? "stderr" : "stdout", bytes, end: at + message.length - headLength }
  }
  throw new AtelierError({ status: 0, message: "The connection was lost." })
}

const drawAfter = 50

/** The lines of a process's output, while the component is shown. */
export const useOutput = (
  agent: string,
  process: string,
  from: number,
  onEnd: () => void
): { readonly lines: ReadonlyArray<OutputLine>; readonly state: StreamState; readonly error: Error | undefined } => {
  const [lines, setLines] = useState<ReadonlyArray<OutputLine>>([])
  const kept = useRef(new OutputLines())
  const offset = useRef(from)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const { error, state } = useLive({
    of: ["process", agent, process],
    open: (signal) => partsFrom(agent, process, offset.current, signal),
    onValue: ({ bytes, channel, end }) => {
      if (end <= offset.current) return
      offset.current = end
      kept.current.push(channel, bytes)
      timer.current ??= setTimeout(() => {
        timer.current = undefined
        setLines(kept.current.lines)
      }, drawAfter)
    }
  })
  const hasEnded = state === "ended"
  const ended = useEffectEvent(onEnd)
  useEffect(() => {
    if (hasEnded) ended()
  }, [hasEnded])
  return { lines, state, error }
}
