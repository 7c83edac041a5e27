/** Connections to other processes of the deployment. agents-and-apps.md §17. */
import { AgentUnreachable, full, type OtherProcess, unable } from "@atelier/core/network"
import { Ids, isLoopbackHost } from "@atelier/core/platform"
import { Effect } from "effect"
import type { Duplex } from "node:stream"
import { WebSocket } from "ws"
import { Passes, type PassTarget } from "./Passes.js"
import { CurrentRequest } from "../server/request/CurrentRequest.js"
import { answerHeader, maximumMessage, requestHeader } from "./wire.js"

/** Milliseconds that another process may take to answer. */
const handshakeTimeout = 5_000

const unreachable = (detail: string) =>
  new AgentUnreachable({ message: `The process of the service that the workspace's agent is connected to cannot be reached: ${detail}.` })

/** Why the other process opens no stream to an agent, by the status of its answer. */
const refusals: ReadonlyMap<number | undefined, AgentUnreachable> = new Map([
  [404, unreachable("the agent has left it")],
  [409, unable],
  [429, full]
])

/** The WebSocket's address of another process: at a URL, or at a socket of this machine. */
const addressOf = ({ address }: OtherProcess, path: string): Effect.Effect<string, AgentUnreachable> => {
  if (address.startsWith("unix:/")) return Effect.succeed(`ws+${address}:${path}`)
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)
    ? Effect.succeed(`${address.replace(/^http/, "ws").replace(/\/+$/, "")}${path}`)
    : unreachable("its address is no URL of http or https")
}

/** Whether no program between both processes can read what they send: TLS hides it, or they are on one machine. */
const isHidden = ({ address }: OtherProcess): boolean =>
  /^(?:https:|unix:)/.test(address) || (URL.canParse(address) && isLoopbackHost(new URL(address).hostname))

/** Opens a WebSocket, which is paused; gives it with the answer of the other side to the pass. */
const opened = (url: string, pass: string, requestId: string) =>
  Effect.acquireRelease(
    Effect.async<{ readonly webSocket: WebSocket; readonly socket: Duplex; readonly answer: string }, AgentUnreachable>((resume) => {
      const webSocket = new WebSocket(url, {
        headers: { authorization: `Replica ${pass}`, [requestHeader]: requestId },
        handshakeTimeout,
        maxPayload: maximumMessage,
        perMessageDeflate: false
      })
      webSocket.once("upgrade", ({ headers, socket }) => {
        const answer = String(headers[answerHeader] ?? "")
        webSocket.once("open", () => {
          // Nothing is read before there is a reader
          webSocket.pause()
          resume(Effect.succeed({ webSocket, socket, answer }))
        })
      })
      webSocket.once("unexpected-response", (request, response) => {
        request.destroy()
        resume(refusals.get(response.statusCode) ?? unreachable(`it answers ${response.statusCode}`))
      })
      webSocket.on("error", ({ message }) => resume(unreachable(message)))
      return Effect.sync(() => webSocket.terminate())
    }),
    ({ webSocket }) =>
      Effect.sync(() => {
        webSocket.close(1000)
        const timer = setTimeout(() => webSocket.terminate(), handshakeTimeout)
        webSocket.once("close", () => clearTimeout(timer))
        webSocket.resume()
      })
  )

/**
 * Connects to another process with a pass for a target, until the scope closes. The WebSocket is paused. Fails if the other side does not
 * prove that it belongs to the deployment.
 */
export const makeConnect = Effect.gen(function* () {
  const passes = yield* Passes
  const ids = yield* Ids
  return (process: OtherProcess, path: string, target: PassTarget) =>
    Effect.gen(function* () {
      const url = yield* addressOf(process, path)
      const pass = yield* passes.issue(process.id, target, yield* ids.next)
      const { answer, socket, webSocket } = yield* opened(url, pass.text, (yield* CurrentRequest).id)
      if (!(yield* pass.isAnsweredBy(answer))) return yield* unreachable("what answers at its address is no process of the service")
      return { isHidden: isHidden(process), socket, webSocket }
    })
})
