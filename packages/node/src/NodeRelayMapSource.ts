/** Reads the relay map that an operator has put into a file or at an address. agents-and-apps.md §12. */
import { RelayMapSource } from "@atelier/core/network"
import { existing } from "@atelier/core/platform"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"

/** Characters of a map. */
const maximumText = 1024 * 1024

/** Milliseconds that an address may take. */
const patience = 10_000

const bounded = (text: string): string => {
  if (text.length > maximumText) throw new Error(`has more than ${maximumText} characters`)
  return text
}

const asError = (cause: unknown): Error => (cause instanceof Error ? cause : new Error(String(cause)))

const readAt = async (url: string): Promise<string> => {
  const answer = await fetch(url, { signal: AbortSignal.timeout(patience) })
  if (!answer.ok) throw new Error(`answers with ${answer.status}`)
  let text = ""
  const decoder = new TextDecoder()
  for await (const part of answer.body ?? []) text = bounded(text + decoder.decode(part, { stream: true }))
  return text
}

export const layer = existing(RelayMapSource, {
  readFile: (path) => Effect.tryPromise({ try: async () => bounded(await readFile(path, "utf8")), catch: asError }),
  fetch: (url) => Effect.tryPromise({ try: () => readAt(url), catch: asError })
})
