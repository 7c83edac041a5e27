// What `node:http` costs that only passes requests on: two of these in a row take the places of the service and the agent.
import { Agent, createServer, request } from "node:http"

const port = Number(process.argv[2])
const agent = new Agent({ keepAlive: true, maxFreeSockets: 32 })

const server = createServer((incoming, outgoing) => {
  const onward = request({ agent, port, host: "127.0.0.1", method: incoming.method, path: incoming.url, headers: incoming.headers })
  onward.on("response", (response) => {
    outgoing.writeHead(response.statusCode, response.headers)
    response.pipe(outgoing)
  })
  incoming.pipe(onward)
})
server.listen({ port: 0, host: "127.0.0.1", backlog: 2048 }, () => process.send({ port: server.address().port }))
process.on("disconnect", () => process.exit())
