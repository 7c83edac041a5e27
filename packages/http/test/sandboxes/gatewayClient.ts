/** SSH clients at a gateway, with keys of their own. */
import { readFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import type { Person } from "../../../../test/http/server.js"
import type { AgentServer, RunningAgent } from "../agents/AgentServer.js"
import { listening } from "../network/linkedAgents.js"
import { openSsh } from "./openSsh.js"

/** OpenSSH with a key of its own, beside a gateway. */
export const client = async (server: AgentServer, agent: RunningAgent, type: "ed25519" | "ecdsa" | "rsa" = "ed25519") => {
  const { folder, run, start } = openSsh(server, agent)
  const key = join(folder, "key")
  await run("ssh-keygen", ["-q", "-t", type, "-N", "", "-C", "laptop", "-f", key])
  const port = await listening(createServer(server.atelier.ssh))
  const options = [
    `UserKnownHostsFile=${join(folder, "known_hosts")}`,
    "StrictHostKeyChecking=accept-new",
    "LogLevel=ERROR",
    "IdentitiesOnly=yes",
    "IdentityAgent=none",
    "ControlPath=none"
  ].flatMap((option) => ["-o", option])
  const base = ["-F", "none", ...options, "-i", key, "-o", `Port=${port}`]
  return {
    base,
    folder,
    key,
    port,
    run,
    start,
    publicKey: readFileSync(`${key}.pub`, "utf8"),
    ssh: (args: ReadonlyArray<string>, input = "") => {
      const { child, ended } = start("ssh", [...base, ...args])
      child.stdin.end(input)
      return ended
    }
  }
}

/** Adds a key of a user. */
export const add = async (server: AgentServer, { token }: Person, public_key: string, name?: string) =>
  server.call("POST", "/users/me/ssh-keys", { token, body: { public_key, ...(name === undefined ? {} : { name }) } })
