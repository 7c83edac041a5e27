import { IncomingMessage, ServerResponse } from "node:http"
import { Socket } from "node:net"
import { setImmediate } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import * as Endings from "../../../src/server/listener/Endings.js"

const aResponse = (): ServerResponse => new ServerResponse(new IncomingMessage(new Socket()))

const unexpected = (error: unknown): never => expect.unreachable(String(error))

describe("answers of one turn of the event loop", () => {
  it("end together, at its end", async () => {
    const end = Endings.make(unexpected)
    const responses = [aResponse(), aResponse()]
    for (const response of responses) end(response, "text")
    expect(responses.map(({ writableEnded }) => writableEnded)).toStrictEqual([false, false])
    await setImmediate()
    expect(responses.map(({ writableEnded }) => writableEnded)).toStrictEqual([true, true])
  })

  it("end before if the turn takes long", () => {
    const end = Endings.make(unexpected)
    const responses = [aResponse(), aResponse()]
    const [first, second] = responses
    if (first !== undefined) end(first)
    const begun = performance.now()
    while (performance.now() - begun < 2) continue
    if (second !== undefined) end(second)
    expect(responses.map(({ writableEnded }) => writableEnded)).toStrictEqual([true, true])
  })

  it("do not end twice", async () => {
    const end = Endings.make(unexpected)
    const response = aResponse()
    const errors: Array<unknown> = []
    response.on("error", (error) => void errors.push(error))
    end(response, "text")
    response.end()
    await setImmediate()
    expect(errors).toStrictEqual([])
  })

  it("end also if another one throws, which is cut", async () => {
    const failure = new Error("The wrapper of a middleware failed")
    const failures: Array<unknown> = []
    const end = Endings.make((error) => void failures.push(error))
    const [broken, other] = [aResponse(), aResponse()]
    broken.end = () => {
      throw failure
    }
    end(broken, "text")
    end(other, "text")
    await setImmediate()
    expect({ failures, isCut: broken.destroyed, hasEnded: other.writableEnded }).toStrictEqual({
      failures: [failure],
      isCut: true,
      hasEnded: true
    })
  })
})
