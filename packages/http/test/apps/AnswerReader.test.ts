import { Loans } from "@atelier/agent-protocol"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { AnswerReader } from "../../src/apps/AnswerReader.js"

interface Read {
  readonly status: number
  readonly rawHeaders: ReadonlyArray<string>
  readonly body: string
  /** Whether the connection may carry another request; undefined for an answer that is not whole. */
  readonly isReusable: boolean | undefined
  readonly failure: string | undefined
}

/** What is read of pieces, and of the end of the connection behind them where it ends. */
const read = (pieces: ReadonlyArray<string>, { ends = false, isHead = false } = {}): Read => {
  let [status, body] = [0, ""]
  let rawHeaders: ReadonlyArray<string> = []
  let isReusable: boolean | undefined
  let failure: string | undefined
  const reader = new AnswerReader(isHead, {
    head: (given, lines) => {
      status = given
      rawHeaders = lines
    },
    data: (bytes) => (body += Buffer.from(bytes).toString("latin1")),
    end: (given) => (isReusable = given),
    fail: (message) => (failure = message)
  })
  for (const piece of pieces) reader.take(Buffer.from(piece, "latin1"))
  if (ends) reader.close()
  return { status, rawHeaders, body, isReusable, failure }
}

const head = (...lines: ReadonlyArray<string>) => ["HTTP/1.1 200 OK", ...lines, "", ""].join("\r\n")

const lengthed = `${head("Content-Length: 5")}hello`
const chunked = `${head("Transfer-Encoding: chunked")}2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nTrailer: x\r\n\r\n`

describe("an answer of an app", () => {
  it("is whole in each form, in whatever pieces it comes", () => {
    const forms = [lengthed, chunked, `HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${lengthed}`]
    for (const form of forms) {
      expect(read([form])).toMatchObject({ status: 200, body: "hello", isReusable: true, failure: undefined })
      expect(read([...form])).toMatchObject({ status: 200, body: "hello", isReusable: true, failure: undefined })
    }
    fc.assert(
      fc.property(fc.constantFrom(...forms), fc.array(fc.nat(200), { maxLength: 5 }), (form, cuts) => {
        const places = [0, ...cuts.map((cut) => cut % form.length).toSorted((one, other) => one - other), form.length]
        const pieces = places.slice(1).map((place, at) => form.slice(places[at], place))
        expect(read(pieces)).toMatchObject({ status: 200, body: "hello", isReusable: true })
      })
    )
  })

  it("keeps no memory of a read for a small piece that waits for its client", () => {
    const waiting: Array<Uint8Array> = []
    const receiver = { head: () => undefined, end: () => undefined, fail: () => undefined }
    const reader = new AnswerReader(false, { ...receiver, data: (bytes) => void waiting.push(bytes) })
    reader.take(Buffer.from(head("Content-Length: 100000")))
    const memory = new Set<ArrayBufferLike>()
    for (let count = 0; count < 50; count++) {
      const slab = Loans.take()
      if (slab === undefined) throw new Error("No memory is to be had.")
      memory.add(slab.buffer)
      slab.fill(count)
      Loans.lend(slab, slab.length)
      // What the same read brought for other streams has been passed on
      Loans.giveBack(slab.buffer, slab.length - 100)
      reader.take(slab.subarray(0, 100))
    }
    expect(memory.size).toBe(1)
    // The memory has been written over since
    expect(waiting.map((bytes) => Buffer.from(bytes).equals(Buffer.alloc(100, bytes[0])))).not.toContain(false)
    expect(waiting.map(([first]) => first)).toStrictEqual(Array.from({ length: 50 }, (_, count) => count))
  })

  it("has no body where HTTP allows none", () => {
    expect(read([head("Content-Length: 5")], { isHead: true })).toMatchObject({ body: "", isReusable: true })
    for (const status of [204, 304])
      expect(read([`HTTP/1.1 ${status} X\r\nContent-Length: 5\r\n\r\n`])).toMatchObject({ status, body: "", isReusable: true })
    expect(read([head("Content-Length: 0")])).toMatchObject({ isReusable: true })
  })

  it("without a length ends with its connection, which carries no other", () => {
    expect(read([`${head()}hel`, "lo"])).toMatchObject({ body: "hello", isReusable: undefined })
    expect(read([`${head()}hel`, "lo"], { ends: true })).toMatchObject({ body: "hello", isReusable: false })
    expect(read(["HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello"])).toMatchObject({ body: "hello", isReusable: false })
    expect(read([`${head("Connection: x, Close", "Content-Length: 5")}hello`])).toMatchObject({ body: "hello", isReusable: false })
  })

  it("followed by bytes that were not asked for ends its connection", () => {
    expect(read([`${lengthed}HTTP/1.1 200 OK\r\n\r\n`])).toMatchObject({ body: "hello", isReusable: false })
    expect(read([head("Content-Length: 5"), "hello\r\n"])).toMatchObject({ body: "hello", isReusable: false })
    expect(read([`${head("Content-Length: 5")}hello`], { isHead: true })).toMatchObject({ body: "", isReusable: false })
    expect(read([`${chunked}0`])).toMatchObject({ body: "hello", isReusable: false })
  })

  it("keeps its headers as they came", () => {
    const { rawHeaders } = read([head("X-a:  \xe9\t b \t", "Set-Cookie: a", "Set-Cookie: b", "Empty:", "Content-Length: 0")])
    expect(rawHeaders).toStrictEqual(["X-a", "\xe9\t b", "Set-Cookie", "a", "Set-Cookie", "b", "Empty", "", "Content-Length", "0"])
  })

  it("keeps bytes of texts that only look like spaces", () => {
    const place = Buffer.from("/voilà").toString("latin1")
    expect(read([head(`Location: ${place}`, "Content-Length: 0")]).rawHeaders.slice(0, 2)).toStrictEqual(["Location", place])
  })

  it("takes no more time than its size asks for", () => {
    const spaces = " ".repeat(60_000)
    const answers = [
      [...`${head(`A: ${"x".repeat(60_000)}`, "Content-Length: 0")}`],
      [...head("Transfer-Encoding: chunked"), ...`1;${"x".repeat(16_000)}\r\na\r\n0\r\n\r\n`],
      [head(`A:${spaces}x`, "Content-Length: 0")],
      [head(`A: x${spaces}x`, "Content-Length: 0")],
      [head(`A:${spaces}\x01`)],
      [head("Transfer-Encoding: chunked"), `0\r\nA:${spaces.slice(0, 16_000)}\x01\r\n\r\n`]
    ]
    // One that took the square of its size needed seconds
    for (const answer of answers) {
      const before = process.cpuUsage()
      read(answer)
      const { system, user } = process.cpuUsage(before)
      expect((system + user) / 1000).toBeLessThan(500)
    }
  })
})

describe("what is no answer", () => {
  const notHttp = [
    head("Content-Length: 5").replaceAll("\r\n", "\n"),
    head("X: y\nContent-Length: 5"),
    head("X: y\rContent-Length: 5"),
    head("X: y", " folded", "Content-Length: 5"),
    head("Content-Length : 5"),
    head("X\0: y"),
    head("X: \x01"),
    head("Transfer-Encoding: chunked\xa0"),
    head("Content-Length: 5\xa0"),
    head(": y"),
    head("no colon"),
    head("Content-Length: 5", "Content-Length: 5"),
    head("Content-Length: 5", "Content-Length: 6"),
    head("Content-Length: 5, 5"),
    head("Content-Length: +5"),
    head("Content-Length: 0x5"),
    head("Content-Length:"),
    head("Content-Length: 9999999999999999"),
    head("Content-Length: 5", "Transfer-Encoding: chunked"),
    head("Transfer-Encoding: chunked", "Content-Length: 5"),
    head("Transfer-Encoding: gzip, chunked"),
    head("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"),
    head("Transfer-Encoding: identity"),
    head("Transfer-Encoding: xchunked"),
    "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    "HTTP/2.0 200 OK\r\n\r\n",
    "HTTP/1.1 20 OK\r\n\r\n",
    "HTTP/1.1 099 OK\r\n\r\n",
    "HTTP/1.1  200 OK\r\n\r\n",
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
    "\r\nHTTP/1.1 200 OK\r\n\r\n",
    "SSH-2.0-x\r\n\r\n"
  ]

  it("is refused before anything of it is passed on", () => {
    for (const text of notHttp)
      expect([text, read([`${text}hello`])]).toStrictEqual([
        text,
        { status: 0, rawHeaders: [], body: "", isReusable: undefined, failure: "Its answer is not HTTP." }
      ])
  })

  it("is refused within a body of chunks", () => {
    const bodies = [
      "2\nhe\r\n",
      "0x2\r\nhe\r\n",
      "2\r\nhell",
      "-1\r\n",
      "\r\n",
      "fffffffffffff\r\n",
      " 2\r\nhe",
      "0\r\nno trailer\r\n\r\n",
      "2 \r\nhe"
    ]
    for (const body of bodies)
      expect([body, read([head("Transfer-Encoding: chunked"), body])]).toStrictEqual([
        body,
        expect.objectContaining({ isReusable: undefined, failure: "Its answer is not HTTP." })
      ])
  })

  it("is refused beyond the bounds", () => {
    const long = "x".repeat(40_000)
    const tooLarge = { failure: "The head of its answer is too large." }
    expect(read([head(`A: ${long}`, `B: ${long}`)])).toMatchObject(tooLarge)
    expect(read([`HTTP/1.1 200 OK\r\nA: ${long}`, long])).toMatchObject(tooLarge)
    const early = `HTTP/1.1 103 Early Hints\r\nLink: ${long}\r\n\r\n`
    expect(read([early, early])).toMatchObject(tooLarge)
    const trailers = `0\r\n${"T: x\r\n".repeat(5_000)}`
    for (const body of [long, `1;${long}`, `0\r\n${long}`, trailers])
      expect(read([head("Transfer-Encoding: chunked"), body]).failure).toBe("Its answer is not HTTP.")
  })

  it("is one that breaks off", () => {
    expect(read([], { ends: true }).failure).toBe("It broke the connection off without an answer.")
    for (const form of [lengthed, chunked])
      for (let size = 1; size < form.length; size++) {
        expect([size, read([form.slice(0, size)], { ends: true })]).toMatchObject([
          size,
          { isReusable: undefined, failure: "Its answer is not HTTP." }
        ])
      }
  })
})
