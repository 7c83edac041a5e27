import { Atelier } from "@atelier/http"
import { once } from "node:events"
import { createServer } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { expect, it } from "vitest"
import { sqlite } from "../../../../test/databases.js"

it("the service ends although a request does not", async () => {
  const atelier = await Atelier.make({
    accessUrl: "http://127.0.0.1:3000",
    storage: sqlite,
    logLevel: "error",
    drainTimeout: "50 millis"
  })
  const server = createServer(atelier.handler).listen(0, "127.0.0.1")
  await once(server, "listening")
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1", () => {
    socket.write("POST /api/v2/users/login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{")
  })
  socket.on("error", () => {})
  await once(server, "request")
  await atelier.dispose()
  expect(socket.destroyed).toBe(false)
  socket.destroy()
  await new Promise((resolve) => server.close(resolve))
})
