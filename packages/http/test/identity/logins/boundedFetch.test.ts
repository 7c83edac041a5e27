/** Answers of providers that do not come. */
import { once } from "node:events"
import { createServer } from "node:net"
import { expect, it, vi } from "vitest"
import { answerTimeout, boundedFetch } from "../../../src/logins/boundedFetch.js"

it("a request is given up after its time, also beside a signal of its caller", async () => {
  const silent = createServer().listen(0, "127.0.0.1")
  await once(silent, "listening")
  const address = silent.address()
  const url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/`
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  try {
    const asked = boundedFetch(url, { signal: new AbortController().signal })
    const ended = expect(asked).rejects.toMatchObject({ name: "TimeoutError" })
    vi.advanceTimersByTime(answerTimeout * 1_000)
    await ended
  } finally {
    vi.useRealTimers()
    silent.close()
  }
})
