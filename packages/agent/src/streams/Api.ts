/** The agent's own HTTP API, which the service reaches over streams that it opens. agents-and-apps.md §11, §17. */
import type { ByteStream, StreamError } from "@atelier/agent-protocol"
import { Effect } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { type Containers, EngineFailure, engineSocket, makeContainers } from "./Containers.js"
import { makeListeningPorts } from "./ListeningPorts.js"
import type { OwnPorts } from "./OwnPorts.js"
import type { Place } from "../environment/Place.js"
import { serveStream } from "./serveStream.js"

const send = (response: ServerResponse, status: number, body?: object): void => {
  const text = body === undefined ? "" : JSON.stringify(body)
  response.writeHead(status, text === "" ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(text) })
  response.end(text)
}

const devcontainer = /^\/api\/v0\/containers\/devcontainers\/([0-9a-f-]{36})(\/recreate)?$/

const answer = async (
  containers: Containers,
  ports: ReturnType<typeof makeListeningPorts>,
  request: IncomingMessage,
  response: ServerResponse
) => {
  const { method, url = "" } = request
  const [, id = "", recreate] = devcontainer.exec(url) ?? []
  if (method === "GET" && url === "/api/v0/listening-ports") return send(response, 200, { ports: await ports() })
  if (method === "GET" && url === "/api/v0/containers") return send(response, 200, await containers.list())
  if (method === "DELETE" && id !== "" && recreate === undefined) {
    await containers.remove(id)
    return send(response, 204)
  }
  if (method === "POST" && id !== "" && recreate !== undefined) {
    const { name } = await containers.recreate(id)
    return send(response, 202, { message: `The devcontainer ${name} is being made anew.` })
  }
  return send(response, 404, { message: "The agent has no such route." })
}

export interface Api {
  /** Serves requests of the service on a stream until it ends. */
  readonly serve: (stream: ByteStream) => Effect.Effect<void, StreamError>
}

/** Serves what the agent knows of its machine. `engine` is where a container engine listens. */
export const make = (place: Effect.Effect<Place>, own: OwnPorts, engine: string = engineSocket(process.env)): Api => {
  const variables = () => Effect.runPromise(Effect.map(place, (placed) => placed.variables))
  const containers = makeContainers(engine, variables)
  const ports = makeListeningPorts(own)
  const server = createServer({ keepAliveTimeout: 1 }, (request, response) => {
    answer(containers, ports, request, response).catch((error: unknown) => {
      const status = error instanceof EngineFailure && (error.status === 404 || error.status === 409) ? error.status : 502
      send(response, status, { message: error instanceof Error ? error.message : String(error) })
    })
  })
  return {
    serve: (stream) => serveStream(server, stream)
  }
}
