import * as fc from "fast-check"
import type { ServerResponse } from "node:http"
import { randomUUID } from "node:crypto"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { WrittenHead } from "../../../src/server/connection/WrittenHead.js"
import { aRequest, aServer, inTurn } from "./answersOf.js"

let server: Awaited<ReturnType<typeof aServer>>
beforeAll(async () => {
  server = await aServer()
})
afterAll(() => server.close())

type Headers = Record<string, string | Array<string>>

/** What a host may do to a response before it is answered. */
const hosts: Record<string, (response: ServerResponse) => void> = {
  nothing: () => undefined,
  header: (response) => void response.setHeader("X-Powered-By", "a host"),
  message: (response) => void (response.statusMessage = "Fine"),
  undated: (response) => void (response.sendDate = false),
  unchunked: (response) => void (response.useChunkedEncodingByDefault = false),
  ending: (response) => void (response.shouldKeepAlive = false),
  strict: (response) => void (response.strictContentLength = true),
  timed: (response) => void Reflect.set(response, "_keepAliveTimeout", 9000),
  limited: (response) => void Reflect.set(response, "_maxRequestsPerSocket", 7),
  removed: (response) => void response.removeHeader("connection"),
  replaced: (response) => {
    const { writeHead } = response
    response.writeHead = ((status: number, headers: Headers) =>
      writeHead.call(response, status, { ...headers, "x-host": "1" })) as typeof writeHead
  }
}

const planned = fc.record({
  method: fc.constantFrom("GET", "GET", "GET", "HEAD"),
  version: fc.constantFrom("1.1", "1.1", "1.1", "1.0"),
  host: fc.oneof({ weight: 4, arbitrary: fc.constant("nothing") }, { weight: 3, arbitrary: fc.constantFrom(...Object.keys(hosts)) }),
  isPipelined: fc.constantFrom(false, false, true),
  isBare: fc.boolean(),
  isStreamed: fc.boolean()
})

const named = fc.dictionary(fc.stringMatching(/^x-[a-z]{1,8}$/), fc.stringMatching(/^[!-~\xa0-\xff]{0,12}$/), { maxKeys: 4 })
const optional = fc.record(
  {
    date: fc.constant("Sat, 28 Nov 2026 00:00:00 GMT"),
    "content-length": fc.constant("5"),
    connection: fc.constant("close"),
    "set-cookie": fc.array(fc.constantFrom("a=1", "b=2"), { minLength: 1 }),
    vary: fc.constant("Origin")
  },
  { requiredKeys: [] }
)
const aHead = fc.record({
  status: fc.constantFrom(200, 200, 200, 404, 503, 204, 304),
  headers: fc.tuple(named, optional).map(([one, other]): Headers => ({ ...one, ...other }))
})

const idHeader = "x-request-id"

describe("a head that is written as before", () => {
  it("has the bytes of one that Node writes, whatever a host has set", async () => {
    await fc.assert(
      fc.asyncProperty(aHead, fc.array(planned, { minLength: 2, maxLength: 7 }), async ({ headers, status }, plan) => {
        const requests = plan.map(({ method, version }, at) => aRequest(method, at === plan.length - 1, version))
        const ids = plan.map(() => randomUUID())
        const answersBy = (write: (response: ServerResponse, headers: Headers, id: string) => void) =>
          server.answersOf(requests, async (response, place) => {
            const { host = "nothing", isBare, isPipelined, isStreamed } = plan[place] ?? {}
            if (isPipelined !== true) await inTurn(response)
            const id = ids[place] ?? ""
            hosts[host]?.(response)
            write(response, { ...headers, [idHeader]: id }, id)
            if (isBare) response.flushHeaders()
            if (isStreamed) response.write("he")
            response.end(isStreamed ? "llo" : "hello")
          })
        let known: WrittenHead | undefined
        const ours = await answersBy((response, own, id) => {
          if (known?.writeTo(response, id) !== true) known = WrittenHead.write(response, status, own, id)
        })
        expect(ours).toStrictEqual(await answersBy((response, own) => void response.writeHead(status, own)))
      }),
      { numRuns: 100 }
    )
  })

  it("is written for the next equal answer without Node's checks", async () => {
    const written: Array<boolean> = []
    let known: WrittenHead | undefined
    await server.answersOf([aRequest("GET", false), aRequest("GET", false), aRequest("GET", true)], async (response) => {
      await inTurn(response)
      const id = randomUUID()
      const isWritten = known?.writeTo(response, id) === true
      written.push(isWritten)
      if (!isWritten) known = WrittenHead.write(response, 200, { date: "now", "content-length": "5", [idHeader]: id }, id)
      response.end("hello")
    })
    // Node tells the client of the last one that the connection ends
    expect(written).toStrictEqual([false, true, false])
  })

  it("is written anew for another server, whose options may differ", async () => {
    const other = await aServer()
    const id = randomUUID()
    let known: WrittenHead | undefined
    await server.answersOf([aRequest("GET", false), aRequest("GET", true)], (response) => {
      known ??= WrittenHead.write(response, 200, { date: "now", [idHeader]: id }, id)
      response.end()
    })
    await other.answersOf([aRequest("GET", false), aRequest("GET", true)], (response) => {
      expect([known === undefined, known?.writeTo(response, id)]).toStrictEqual([false, false])
      response.end()
    })
    other.close()
  })

  it("is not kept if the id stands in another line too", async () => {
    const id = randomUUID()
    await server.answersOf([aRequest("GET", false), aRequest("GET", true)], (response) => {
      expect(WrittenHead.write(response, 200, { date: "now", echo: id, [idHeader]: id }, id)).toBe(undefined)
      response.end()
    })
  })
})
