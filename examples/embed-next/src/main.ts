/**
 * The application's custom server: `PORT=3000 DIRECTORY=. node main.js`. Route handlers see no WebSockets, so it passes upgrades to Atelier. In
 * a Next.js application, `next({ … }).getRequestHandler()` stands in place of `render`, which calls the route as Next.js does.
 */
import { getRequestListener } from "@hono/node-server"
import { createServer } from "node:http"
import { atelier } from "./atelier.js"
import * as route from "./route.js"

const render = getRequestListener((request) => {
  const handlers: Readonly<Record<string, unknown>> = route
  const handler = handlers[request.method]
  if (!new URL(request.url).pathname.startsWith("/workspaces/")) return new Response("the application's own page")
  return typeof handler === "function" ? handler(request) : new Response(null, { status: 405 })
})

const { dispose, upgrade } = await atelier()
const server = createServer(render).on("upgrade", upgrade)
server.listen(Number(process.env["PORT"] ?? "3000"), "127.0.0.1", () => process.stdout.write("listening\n"))

process.once("SIGTERM", () => {
  server.close()
  void dispose()
})
