/** The server that sends mail. */
import { valueOf } from "@atelier/core/deployment"
import { reasonOf } from "@atelier/core/platform"
import { once } from "node:events"
import { connect } from "node:net"
import { createInterface } from "node:readline"
import { type Check, fault, ok, warning } from "./Finding.js"

/** Milliseconds that the greeting may take. */
const longestGreeting = 5_000

/** The first line of a server; empty for one that speaks TLS from the start, which waits for its client. */
const greetingOf = async (host: string, port: number): Promise<string> => {
  const socket = connect({ host, port })
  try {
    const signal = AbortSignal.timeout(longestGreeting)
    await once(socket, "connect", { signal })
    const [line]: ReadonlyArray<unknown> = await once(createInterface(socket), "line", { signal }).catch(() => [])
    return typeof line === "string" ? line : ""
  } finally {
    socket.destroy()
  }
}

export const mailFindings: Check = async ({ configuration }) => {
  const smarthost = valueOf(configuration, "email-smarthost")
  if (smarthost === "") return [ok("none: passwords are not reset by mail, and notifications are in the inbox alone")]
  const [, host = "", port = "25"] = /^(.*?)(?::(\d+))?$/.exec(smarthost) ?? []
  const line = await greetingOf(host.replace(/^\[|\]$/g, ""), Number(port)).catch((error: unknown) => error)
  if (typeof line !== "string") {
    return [fault(`${smarthost} does not answer: ${reasonOf(line)}`, "check --email-smarthost and the firewall of the mail server")]
  }
  if (line === "" || line.startsWith("220")) return [ok(`${smarthost} answers`)]
  return [warning(`${smarthost} greets with ${JSON.stringify(line.slice(0, 80))}`, "ask the mail server's operator: 220 is expected")]
}
