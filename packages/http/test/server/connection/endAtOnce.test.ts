import * as fc from "fast-check"
import { ServerResponse } from "node:http"
import { setImmediate } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { endAtOnce } from "../../../src/server/connection/endAtOnce.js"
import { ownMethods } from "../../../src/server/connection/ownMethods.js"
import { aRequest, aServer, inTurn } from "./answersOf.js"

let server: Awaited<ReturnType<typeof aServer>>
beforeAll(async () => {
  server = await aServer()
})
afterAll(() => server.close())

type End = (response: ServerResponse, body: string | Uint8Array | undefined) => void

const byNode: End = (response, body) => void response.end(body)

const planned = fc.record({
  method: fc.constantFrom("GET", "GET", "GET", "HEAD", "DELETE"),
  version: fc.constantFrom("1.1", "1.1", "1.0"),
  status: fc.constantFrom(200, 200, 404, 500, 204, 304),
  headers: fc.dictionary(fc.stringMatching(/^x-[a-z]{1,8}$/), fc.stringMatching(/^[!-~\xa0-\xff]{0,12}$/), { maxKeys: 4 }),
  hasLength: fc.boolean(),
  first: fc.constantFrom(0, 0, 0, 10),
  rest: fc.constantFrom(0, 1, 1000, 16 * 1024, 16 * 1024 + 1, 100_000),
  isText: fc.boolean(),
  isPipelined: fc.boolean(),
  isLater: fc.boolean(),
  isCorked: fc.constantFrom(false, false, false, true)
})

/** Every byte value, so that an encoding would show. */
const aBody = (length: number, from: number): Buffer => Buffer.from(Array.from({ length }, (_, at) => (at + from) % 256))

describe("a response that ends at once", () => {
  it("has the bytes, events and order of one that Node ends", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(planned, { minLength: 1, maxLength: 5 }), async (plan) => {
        const requests = plan.map(({ method, version }, at) => aRequest(method, at === plan.length - 1, version))
        const answersBy = (end: End) =>
          server.answersOf(requests, async (response, place) => {
            const made = plan[place]
            if (made === undefined) return
            const { first, hasLength, headers, isCorked, isLater, isPipelined, isText, rest, status } = made
            if (!isPipelined) await inTurn(response)
            response.writeHead(status, hasLength ? { ...headers, "content-length": first + rest } : headers)
            if (isCorked) response.cork()
            if (first > 0) response.write(aBody(first, 0))
            if (isLater) await setImmediate()
            const body = aBody(rest, first)
            end(response, rest === 0 ? undefined : isText ? body.toString("latin1") : body)
          })
        expect(await answersBy(endAtOnce)).toStrictEqual(await answersBy(byNode))
      }),
      { numRuns: 40 }
    )
  })

  it("leaves in one write if Node lets it", async () => {
    let writes = 0
    const { bytes } = await server.answersOf([aRequest("GET", false), aRequest("GET", true)], (response, place) => {
      const { socket } = response
      const write = socket?.write.bind(socket)
      if (socket !== null && write !== undefined && place === 0) {
        socket.write = ((...given: Parameters<typeof write>) => {
          writes += 1
          return write(...given)
        }) as typeof socket.write
      }
      response.writeHead(200, { "content-length": 5 })
      endAtOnce(response, Buffer.from("hello"))
      if (place === 0) expect(writes).toBe(ownMethods.end === undefined ? 2 : 1)
    })
    expect(bytes.match(/hello/g)).toHaveLength(2)
  })

  it("ends by the method of a host that has replaced it", async () => {
    for (const method of ["end", "write"] as const) {
      const { bytes } = await server.answersOf([aRequest("GET", true)], (response) => {
        const end = response.end.bind(response)
        response.writeHead(200, { "content-length": 5 })
        if (method === "write") response.write = () => false
        response.end = (() => end("other")) as typeof response.end
        endAtOnce(response, Buffer.from("hello"))
      })
      expect(bytes.endsWith("other")).toBe(true)
    }
  })

  it("ends by the method of a tool that came before", async () => {
    const { end } = ServerResponse.prototype
    let calls = 0
    ServerResponse.prototype.end = function (this: ServerResponse, ...given: Parameters<typeof end>) {
      calls += 1
      return end.apply(this, given)
    } as typeof end
    try {
      vi.resetModules()
      const later = await import("../../../src/server/connection/endAtOnce.js")
      await server.answersOf([aRequest("GET", true)], (response) => {
        response.writeHead(200, { "content-length": 5 })
        later.endAtOnce(response, Buffer.from("hello"))
      })
    } finally {
      ServerResponse.prototype.end = end
    }
    expect(calls).toBe(1)
  })

  it("refuses a body of another length where the host asks for that", async () => {
    let failure: unknown
    await server.answersOf([aRequest("GET", true)], (response) => {
      response.strictContentLength = true
      response.writeHead(200, { "content-length": 4 })
      try {
        endAtOnce(response, Buffer.from("hello"))
      } catch (error) {
        failure = error
        response.destroy()
      }
    })
    expect(failure).toMatchObject({ code: "ERR_HTTP_CONTENT_LENGTH_MISMATCH" })
  })
})
