/** Connections to other processes of the deployment. agents-and-apps.md §17. */
import { AgentUnreachable, type OtherProcess } from "@atelier/core/network"
import { Ids, isLoopbackHost, type Uuid } from "@atelier/core/platform"
import { Effect } from "effect"
import type { Duplex } from "node:stream"
import { WebSocket } from "ws"
import { Passes } from "./Passes.js"
import { answerHeader, maximumMessage } from "./wire.js"

/** Milliseconds that another process may take to answer. */
const handshakeTimeout = 5_000

const unreachable = (detail: string) =>
  new AgentUnreachable({ message: `The process of the service that the workspace's agent is connected to cannot be reached: ${detail}.` })

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
const opened = (url: string, pass: string) =>
  Effect.acquireRelease(
    Effect.async<{ readonly webSocket: WebSocket; readonly socket: Duplex; readonly answer: string }, AgentUnreachable>((resume) => {
      const webSocket = new WebSocket(url, {
        headers: { authorization: `Replica ${pass}` },
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
        resume(unreachable(response.statusCode === 404 ? "the agent has left it" : `it answers ${response.statusCode}`))
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
 * Connects to another process with a pass for an agent or the relay, until the scope closes. The WebSocket is paused. Fails if the other side does not
 * prove that it belongs to the deployment.
 */
export const makeConnect = Effect.gen(function* () {
  const passes = yield* Passes
  const ids = yield* Ids
  return (process: OtherProcess, path: string, agent_id: Uuid.Uuid | null) =>
    Effect.gen(function* () {
      const url = yield* addressOf(process, path)
      const pass = yield* passes.issue(process.id, agent_id, yield* ids.next)
      const { answer, socket, webSocket } = yield* opened(url, pass.text)
      if (!(yield* pass.isAnsweredBy(answer))) return yield* unreachable("what answers at its address is no process of the service")
      return { isHidden: isHidden(process), socket, webSocket }
    })
})
