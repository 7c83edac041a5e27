/** Asks workspace proxies for their reports of health. agents-and-apps.md §21. */
import { ProxyProbe } from "@atelier/core/deployment"
import { existing } from "@atelier/core/platform"
import { Effect } from "effect"

/** Characters of a report. */
const maximumText = 64 * 1024

/** Milliseconds that an answer may take. */
const patience = 5_000

const asError = (cause: unknown): Error => (cause instanceof Error ? cause : new Error(String(cause)))

const read = async (url: string): Promise<{ readonly status: number; readonly text: string }> => {
  const answer = await fetch(url, { signal: AbortSignal.timeout(patience), redirect: "manual" })
  let text = ""
  const decoder = new TextDecoder()
  for await (const part of answer.body ?? []) {
    text += decoder.decode(part, { stream: true })
    if (text.length > maximumText) throw new Error(`The answer has more than ${maximumText} characters.`)
  }
  return { status: answer.status, text }
}

export const layer = existing(ProxyProbe, { get: (url) => Effect.tryPromise({ try: () => read(url), catch: asError }) })
