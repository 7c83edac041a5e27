/** Tells the engine on the standard output how the first way to the service goes. docs/agent.md, "In a container". */
import { StartNotice } from "@atelier/agent-protocol"
import { Effect } from "effect"
import type { AgentConfig } from "../AgentConfig.js"
import { addressOf } from "./Unreachable.js"

/** Characters of a cause that are told: a proxy may answer with a page. */
const maximumCause = 300

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim().slice(0, maximumCause)

const write = (notice: StartNotice.StartNotice): void => void process.stdout.write(`${StartNotice.encode(notice)}\n`)

/** Tells that the agent ends, and why. */
export const failed = (cause: string): void => write({ agent: "failed", cause: oneLine(cause) })

export interface StartNotices {
  /** The service could not be reached. Each cause is told once in a row. */
  readonly unreachable: (cause: string) => Effect.Effect<void>
  /** The service has answered: nothing more is told. */
  readonly reached: Effect.Effect<void>
}

export const make = ({ tellsStart, url }: Pick<AgentConfig, "tellsStart" | "url">): StartNotices => {
  let isOver = !tellsStart
  let last: string | undefined
  return {
    unreachable: (cause) =>
      Effect.sync(() => {
        if (isOver || cause === last) return
        last = cause
        write({ agent: "unreachable", url: addressOf(url), cause: oneLine(cause) })
      }),
    reached: Effect.sync(() => {
      if (isOver) return
      isOver = true
      write({ agent: "reached", url: addressOf(url) })
    })
  }
}
