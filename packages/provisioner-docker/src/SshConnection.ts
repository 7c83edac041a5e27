/** Connections to a Docker daemon through SSH, by the machine's own `ssh`: its configuration, keys and known hosts count. */
import { spawn } from "node:child_process"
import { Agent } from "node:http"
import { Duplex, PassThrough } from "node:stream"
import type { DaemonAddress } from "./DaemonAddress.js"

/** Seconds until a host that does not answer counts as away. */
const connectTimeout = 10

/** Bytes of what `ssh` says that are kept for the message of a failure. */
const maximumReason = 2_000

/** A connection that ends with its process, and the other way around. */
const connection = ({ destination, port }: DaemonAddress & { readonly _tag: "Ssh" }): Duplex => {
  // No question may be asked, since no one would answer it
  const options = ["-o", "BatchMode=yes", "-o", `ConnectTimeout=${connectTimeout}`, ...(port === undefined ? [] : ["-p", String(port)])]
  const child = spawn("ssh", [...options, "--", destination, "docker", "system", "dial-stdio"], { stdio: ["pipe", "pipe", "pipe"] })
  let reason = ""
  child.stderr.on("data", (bytes: Buffer) => (reason = `${reason}${bytes.toString()}`.slice(-maximumReason)))
  // Its pipes break before it has said why it ends, so they end nothing by themselves
  const [input, output] = [new PassThrough(), new PassThrough()]
  input.pipe(child.stdin.on("error", () => undefined))
  child.stdout.pipe(output, { end: false })
  const stream = Duplex.from({ readable: output, writable: input })
  const end = (why: string) => stream.destroy(new Error(reason.trim() === "" ? why : reason.trim()))
  child.once("error", ({ message }) => end(`ssh cannot be started: ${message}`))
  child.once("close", (code) => (code === 0 ? output.end() : end(`ssh ended with ${code}`)))
  stream.once("close", () => child.kill())
  return stream
}

/** Makes a connection for each call. */
export const sshAgent = (address: DaemonAddress & { readonly _tag: "Ssh" }): Agent => {
  const agent = new Agent({ keepAlive: false })
  return Object.assign(agent, { createConnection: () => connection(address) })
}
