import { createServer } from "node:http"

const port = Number(process.env.PORT)

createServer((request, response) => {
  if (request.url === "/healthz") return response.end("ok\n")
  response.setHeader("Content-Type", "text/plain; charset=utf-8")
  return response.end(`Hello from Node ${process.version}\n`)
}).listen(port, "127.0.0.1", () => process.stdout.write(`listening on port ${port}\n`))
