/** Bytes between a channel and a socket of the machine. */
import type { Socket } from "node:net"
import type { ServerChannel } from "ssh2"
import type { Client } from "./Client.js"
import { Output } from "./Output.js"

/** Carries bytes in both directions until both have ended, or one was broken off. */
export const relay = ({ onEnd, socket: connection }: Client, channel: ServerChannel, socket: Socket, over: () => void): void => {
  const output = new Output(channel, connection)
  let isDone = false
  const done = (): void => {
    if (isDone) return
    isDone = true
    forget()
    socket.destroy()
    channel.close()
    over()
  }
  const forget = onEnd(done)
  let open = 2
  const ended = (): void => {
    open -= 1
    if (open === 0) output.flush(done)
  }
  output.pump(socket, (bytes) => output.write(bytes))
  // The end of one direction: the library's own end would close both
  socket.once("end", () =>
    output.flush(() => {
      channel.eof()
      ended()
    })
  )
  channel.on("data", (bytes: Buffer) => {
    if (!socket.write(bytes)) channel.pause()
  })
  socket.on("drain", () => channel.resume())
  channel.once("end", () => {
    socket.end()
    ended()
  })
  channel.once("close", done)
  socket.once("close", () => output.flush(done))
  socket.on("error", () => undefined)
}
