// Connects the standard input and output to a WebSocket, as OpenSSH's ProxyCommand. `node sshProxy.mjs URL`, with the token in the variable TOKEN.
import { WebSocket } from "ws"

const [, , url] = process.argv
const socket = new WebSocket(url, { headers: { "service-session-token": process.env.TOKEN }, perMessageDeflate: false })

/** Bytes that wait for the connection above which the input waits. */
const maximumWaiting = 1024 * 1024

socket.on("open", () => {
  process.stdin.on("data", (bytes) => {
    socket.send(bytes, () => {
      if (socket.bufferedAmount < maximumWaiting) process.stdin.resume()
    })
    if (socket.bufferedAmount >= maximumWaiting) process.stdin.pause()
  })
  process.stdin.on("end", () => socket.close(1000))
})
socket.on("message", (bytes) => {
  if (process.stdout.write(bytes)) return
  socket.pause()
  process.stdout.once("drain", () => socket.resume())
})
const end = (message) => {
  if (message !== "") process.stderr.write(`${message}\n`)
  process.stdin.pause()
  process.exitCode = message === "" ? 0 : 1
}
socket.on("close", (code, reason) => end(code === 1000 ? "" : `closed with ${code} ${reason}`))
socket.on("error", ({ message }) => end(message))
process.stdout.on("error", () => socket.terminate())
