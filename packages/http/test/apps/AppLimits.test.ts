/** What apps and their visitors may take: streams, bytes and time. agents-and-apps.md §19. */
import { maximumStreams } from "@atelier/core/network"
import { Effect, Exit, Scope } from "effect"
import { randomBytes, randomInt } from "node:crypto"
import { once } from "node:events"
import { type IncomingMessage, request } from "node:http"
import { connect } from "node:net"
import { setImmediate } from "node:timers/promises"
import { describe, expect, it, onTestFinished } from "vitest"
import { anApp } from "../../../../test/records/resources.js"
import { type AgentServer, describeAgentInterface } from "../agents/AgentServer.js"
import { dialing, link, program, webApp } from "../network/linkedAgents.js"

/** A running workspace with one app, and the head of a request for it. */
const anAppAt = async (server: AgentServer, url: string) => {
  const agent = await server.anAgent({ apps: [anApp({ slug: "web", url })] })
  await link(server, agent)
  const path = `/@${agent.owner.username}/${agent.workspace.name}.main/apps/web/`
  return { agent, path }
}

/** Sends a request of the workspace's owner, and answers the head of its response. */
const open = (server: AgentServer, path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") =>
  new Promise<IncomingMessage>((resolve, reject) => {
    const { hostname, port } = new URL(server.url)
    const session = { host: "atelier.test", cookie: `service_session_token=${server.owner().token}` }
    const sent = request({ hostname, port, path, method, headers: { ...session, ...headers }, agent: false }, resolve)
    onTestFinished(() => void sent.destroy())
    sent.on("error", reject).flushHeaders()
    if (method === "GET") sent.end()
  })

const bodyOf = async (response: IncomingMessage): Promise<string> => {
  let text = ""
  for await (const chunk of response) text += String(chunk)
  return text
}

/** The status of a page that takes an app's place, and its message. */
const pageOf = async (response: IncomingMessage) => [response.statusCode, /<p>(.*?)<\/p>/.exec(await bodyOf(response))?.[1]]

/** What a server answers to bytes on a connection of their own, until it closes the connection. */
const raw = ({ url }: AgentServer, text: string): Promise<string> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url)
    let answer = ""
    const socket = connect(Number(port), hostname)
    socket.on("data", (chunk) => (answer += String(chunk))).on("close", () => resolve(answer))
    socket.on("error", () => undefined).write(text)
  })

describeAgentInterface("an app", (server) => {
  it("is downloaded no faster than its visitor reads, while others are served by the same agent", async () => {
    const total = 60_000_000
    /** Bytes on their way at a time. */
    const limit = 24_000_000
    const piece = Buffer.alloc(100_000, "y")
    let written = 0
    const port = await webApp(({ url }, response) => {
      if (url !== "/large") return void response.end("page")
      response.setHeader("content-length", total)
      const push = (): void => {
        while (written < total) {
          written += piece.length
          if (!response.write(piece)) return void response.once("drain", push)
        }
        response.end()
      }
      push()
    })
    const { path } = await anAppAt(server(), `http://localhost:${port}`)
    const large = await open(server(), `${path}large`)
    // A request takes the way there and back that a part of the download takes: after these the download has filled what it may
    const ask = async () => bodyOf(await open(server(), path))
    let last = -1
    while (written !== last) {
      last = written
      for (let count = 0; count < 10; count++) expect(await ask()).toBe("page")
    }
    // The operating system's sockets hold most of it
    expect(written).toBeLessThan(limit)
    let [received, most] = [0, 0]
    for await (const chunk of large) {
      received += (chunk as Buffer).length
      most = Math.max(most, written - received)
    }
    expect([received, most < limit]).toStrictEqual([total, true])
  })

  it("brings each visitor the bytes that it was asked for, also beside those who stop or leave", async () => {
    const bytes = randomBytes(8_000_000)
    const port = await webApp(({ url }, response) => {
      const from = Number(url?.slice(1))
      // In chunks, or with its length
      if (from % 2 === 0) response.setHeader("content-length", bytes.length - from)
      for (let at = from; at < bytes.length;) {
        const to = Math.min(bytes.length, at + randomInt(1, 200_000))
        response.write(bytes.subarray(at, to))
        at = to
      }
      response.end()
    })
    const { path } = await anAppAt(server(), `http://localhost:${port}`)
    const download = async (from: number): Promise<boolean> => {
      const pieces: Array<Buffer> = []
      for await (const piece of await open(server(), `${path}${from}`)) {
        pieces.push(piece)
        if (from % 3 === 0) await setImmediate()
      }
      return Buffer.concat(pieces).equals(bytes.subarray(from))
    }
    const stopped = await open(server(), `${path}0`)
    const left = async (from: number): Promise<void> => {
      const response = await open(server(), `${path}${from}`)
      response.on("error", () => undefined).once("data", () => void response.destroy())
      await once(response, "close")
    }
    const froms = Array.from({ length: 12 }, (_, at) => 100_000 * at + at)
    expect(await Promise.all([...froms.map(download), ...froms.map(left)])).toStrictEqual([
      ...froms.map(() => true),
      ...froms.map(() => undefined)
    ])
    const rest: Array<Buffer> = []
    for await (const piece of stopped) rest.push(piece)
    expect(Buffer.concat(rest).equals(bytes)).toBe(true)
  })

  it("gives way to a page without a free stream of its agent", async () => {
    const quiet = await program(() => undefined)
    const port = await webApp((_, response) => void response.end("page"))
    const { agent, path } = await anAppAt(server(), `http://localhost:${port}`)
    const scope = Effect.runSync(Scope.make())
    await Effect.runPromise(Scope.extend(Effect.replicateEffect(dialing(server(), agent, quiet), maximumStreams), scope))
    expect(await pageOf(await open(server(), path))).toStrictEqual([
      502,
      "The workspace&#39;s agent has 256 streams open, and may have no more."
    ])
    await Effect.runPromise(Scope.close(scope, Exit.void))
    expect(await bodyOf(await open(server(), path))).toBe("page")
  })

  it("gets no body and no head beyond the limits", async () => {
    let asked = 0
    const port = await webApp((_, response) => {
      asked++
      response.end("page")
    })
    const { path } = await anAppAt(server(), `http://localhost:${port}`)
    const length = String(4 * 1024 ** 3 + 1)
    expect(await pageOf(await open(server(), path, { "content-length": length }, "POST"))).toStrictEqual([
      413,
      "A request may have at most 4 GiB."
    ])
    const head = (extra: string) => `GET ${path} HTTP/1.1\r\nHost: atelier.test\r\nX-Large: ${"x".repeat(40_000)}\r\n${extra}\r\n`
    const upgrade =
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OTAxMjM0NQ==\r\n"
    for (const extra of ["", upgrade]) expect(await raw(server(), head(extra))).toMatch(/^HTTP\/1\.1 431 /)
    expect(asked).toBe(0)
  })

  it("gets no request whose end two readers would see at different places", async () => {
    let asked = 0
    const port = await webApp((_, response) => {
      asked++
      response.end("page")
    })
    const { path } = await anAppAt(server(), `http://localhost:${port}`)
    const framings = [
      "Content-Length: 4\r\nTransfer-Encoding: chunked",
      "Transfer-Encoding: chunked\r\nContent-Length: 4",
      "Content-Length: 4\r\nContent-Length: 5",
      "Content-Length: 4, 4",
      "Content-Length: +4",
      "Content-Length: 4\r\nTransfer-Encoding: xchunked",
      "Transfer-Encoding: chunked, identity",
      "Transfer-Encoding : chunked",
      "Transfer-Encoding:\x0bchunked",
      "X: y\nTransfer-Encoding: chunked"
    ]
    for (const framing of framings) {
      const answer = await raw(
        server(),
        `POST ${path} HTTP/1.1\r\nHost: atelier.test\r\nConnection: close\r\nCookie: service_session_token=${server().owner().token}\r\n${framing}\r\n\r\n0\r\n\r\nGET ${path}stolen HTTP/1.1\r\nHost: atelier.test\r\n\r\n`
      )
      expect([framing, answer.match(/HTTP\/1\.1 (?:400|501) /g)?.length]).toStrictEqual([framing, 1])
    }
    expect(asked).toBe(0)
  })

  it("answers with one end alone", async () => {
    const answers = [
      "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\ngood!"
    ]
    for (const answer of answers) {
      const port = await program((socket) => void socket.once("data", () => socket.end(answer)))
      const { path } = await anAppAt(server(), `http://localhost:${port}`)
      expect(await pageOf(await open(server(), path))).toStrictEqual([502, "Its answer is not HTTP."])
    }
  })

  it("is reached beside its agent alone, whatever host its address has", async () => {
    const heard: Array<string | undefined> = []
    const port = await webApp(({ headers }, response) => {
      heard.push(headers.host)
      response.end("beside the agent")
    })
    for (const host of ["169.254.169.254", "[::ffff:10.0.0.1]", "metadata.internal.example", "0.0.0.0", "user:secret@evil.example"]) {
      const { path } = await anAppAt(server(), `http://${host}:${port}/`)
      expect(await bodyOf(await open(server(), path))).toBe("beside the agent")
    }
    expect(new Set(heard)).toStrictEqual(new Set(["atelier.test"]))
  })
})

describe("with few streams for each caller", () => {
  describeAgentInterface(
    "an app",
    (server) => {
      it("gives way to a page for a visitor without a free stream", async () => {
        const port = await webApp(({ url }, response) => void (url === "/endless" ? response.write("x") : response.end("page")))
        const { path } = await anAppAt(server(), `http://localhost:${port}`)
        const endless = [await open(server(), `${path}endless`), await open(server(), `${path}endless`)]
        expect(await pageOf(await open(server(), path))).toStrictEqual([429, "A caller may have at most 2 open streams."])
        for (const one of endless) one.destroy()
        await expect.poll(async () => (await open(server(), path)).statusCode).toBe(200)
      })
    },
    { options: { streamsPerCaller: 2 } }
  )
})

describe("with few calls of the interface", () => {
  describeAgentInterface(
    "an app",
    (server) => {
      it("answers more requests of a page than the interface allows calls", async () => {
        const port = await webApp((_, response) => void response.end("module"))
        const { path } = await anAppAt(server(), `http://localhost:${port}`)
        const call = async () => (await server().call("GET", "/users/me", { token: server().owner().token })).status
        expect([await call(), await call(), await call(), await call()]).toStrictEqual([200, 200, 200, 429])
        for (let index = 0; index < 10; index++) {
          const response = await open(server(), `${path}module-${index % 2}.js`)
          expect([response.statusCode, await bodyOf(response)]).toStrictEqual([200, "module"])
        }
      })
    },
    { options: { dangerousDisableRateLimits: false, apiRateLimit: 3 } }
  )
})
