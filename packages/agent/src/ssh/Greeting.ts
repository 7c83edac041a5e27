/** What a login shell on a terminal shows first: the deployment's announcements, and the message of the day. */
import { readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import type { AgentMessages } from "@atelier/agent-protocol"

/** Bytes of a message of the day. */
const maximumMessage = 64 * 1024

/** How long the server may take to tell its announcements. */
const toldWithin = "2 seconds"

const usualFile = "/etc/motd"

export interface Greeted {
  readonly home: string
  /** The file with the message of the day; empty for the system's own. */
  readonly file: string
  readonly announcements: Effect.Effect<ReadonlyArray<AgentMessages.BannerConfig>, unknown>
}

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false
  )

/** A file of a size that a terminal can show; empty for any other. */
const messageIn = async (file: string): Promise<string> => {
  const stats = await stat(file)
  return stats.isFile() && stats.size <= maximumMessage ? readFile(file, "utf8") : ""
}

/** Returns the greeting. It is empty for a user who wants none, as a file `.hushlogin` in the home directory says. */
export const greeting = ({ announcements, file, home }: Greeted): Effect.Effect<string> =>
  Effect.gen(function* () {
    if (yield* Effect.promise(() => exists(join(home, ".hushlogin")))) return ""
    const told = yield* Effect.orElseSucceed(Effect.timeout(announcements, toldWithin), () => [])
    const banners = told.flatMap(({ enabled, message }) => (enabled && message !== "" ? [`${message}\n`] : []))
    const message = yield* Effect.promise(() => messageIn(file === "" ? usualFile : file).catch(() => ""))
    const ended = message === "" || message.endsWith("\n") ? message : `${message}\n`
    return [...banners, ended].join("")
  })
