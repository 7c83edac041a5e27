/** Matches the values of a claim with the filter of groups. */
import type { FilterQuestion } from "./filter.js"
import { Unreadable } from "./preview.js"

/** The server's expressions take a time that grows with the text alone; those of browsers may never end. */
const maximumTime = 1_000

/** Answers the values that match, after at most a second. */
export const matchingOf = (question: FilterQuestion, signal: AbortSignal): Promise<ReadonlySet<string> | Unreadable> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./filterWorker.ts", import.meta.url), { type: "module" })
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener("abort", leave)
      worker.terminate()
    }
    const leave = (): void => {
      end()
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      end()
      resolve(new Unreadable("slow"))
    }, maximumTime)
    signal.addEventListener("abort", leave)
    worker.addEventListener("message", ({ data }: MessageEvent<ReadonlyArray<string> | undefined>) => {
      end()
      resolve(data === undefined ? new Unreadable("filter") : new Set(data))
    })
    worker.addEventListener("error", () => {
      end()
      reject(new Error("The worker that matches did not load."))
    })
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin to name
    worker.postMessage(question)
  })
