/** The SSH server of a workspace. Its connections come from the service, which has authorized them. agents-and-apps.md §17b. */
import type { Socket } from "node:net"
import ssh2 from "ssh2"
import { makeClient } from "./Client.js"
import { serveForwards } from "./forwards.js"
import type { Serve } from "./Host.js"
import { serveSessions } from "./sessions.js"

/** Milliseconds until a connection has to be used. */
const loginWithin = 60_000

/** Milliseconds without a word of the client after which it is asked whether it is there, and how many times. */
const keepaliveInterval = 30_000
const keepaliveCountMax = 4

/** Serves one connection. The client has no secret to show: the service opens this stream only for those with the right to the workspace. */
export const serve: Serve = (socket, options) =>
  new Promise((resolve, reject) => {
    const server = new ssh2.Server(
      {
        hostKeys: [options.hostKey],
        ident: "Atelier",
        keepaliveInterval,
        keepaliveCountMax,
        algorithms: {
          cipher: ["aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "aes128-ctr", "aes256-ctr"],
          compress: ["none"]
        }
      },
      (connection) => {
        const client = makeClient(connection, socket, options)
        const late = setTimeout(() => socket.destroy(), loginWithin)
        client.onEnd(() => clearTimeout(late))
        // The end of the connection follows
        connection.on("error", () => undefined)
        connection.on("authentication", (context) => context.accept())
        connection.on("ready", () => {
          clearTimeout(late)
          serveSessions(client)
          serveForwards(client)
        })
      }
    )
    socket.once("close", resolve)
    server.on("error", (error: Error) => {
      socket.destroy()
      reject(error)
    })
    // The library reads and writes it, and asks for nothing that only a socket of the network has
    server.injectSocket(socket as Socket)
  })
