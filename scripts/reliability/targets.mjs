// Processes that are killed and started again: a server, a daemon, a workspace proxy, a database, agents.
import { processes, workspaces } from "@atelier/client"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import { program, startServer } from "./server.mjs"

/** Kills a child, and waits until it is gone. */
const killed = async (child) => {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.removeAllListeners("exit")
  const gone = once(child, "exit")
  child.kill("SIGKILL")
  await gone
}

/** A process that `start` starts, which answers once it is ready. */
const restarting = async (name, start) => {
  let child = await start()
  return {
    name,
    restart: async () => {
      await killed(child)
      child = await start()
    },
    end: () => killed(child)
  }
}

/** Starts a part of the program, and waits for a line of its output. */
const startPart = async (words, ready, environment = {}) => {
  const child = spawn(process.execPath, [program, ...words], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...environment }
  })
  await new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) createInterface(stream).on("line", (line) => ready.test(line) && resolve())
    child.once("exit", (code) => reject(new Error(`${words[0]} ended with ${code}`)))
  })
  return child
}

export const aServer = (options, environment) => restarting("server", () => startServer(options, { environment }))

/** A daemon with the local engine, which takes the jobs of a key. */
export const aDaemon = (url, key, directory) =>
  restarting("daemon", () =>
    startPart(["provisionerd", "--url", url, "--name", "far", "--engine", "local", "--directory", directory], /Connected to/, {
      ATELIER_PROVISIONER_KEY: key
    })
  )

export const aProxy = (url, token, port) =>
  restarting("proxy", () =>
    startPart(
      ["proxy", "--http-address", `127.0.0.1:${port}`, "--access-url", `http://127.0.0.1:${port}`, "--primary-access-url", url],
      /listens on/,
      { ATELIER_TOKEN: token }
    )
  )

/** The agent of one of these workspaces, which the engine starts again. */
export const anAgent = (client, ids) => ({
  name: "agent",
  restart: async () => {
    const id = ids[Math.floor(Math.random() * ids.length)]
    const agent = await agentOf(client, id)
    const { stdout } = await processes.exec(client, { workspaceagent: agent, body: { command: "echo $PPID" } })
    const parent = Number(stdout)
    // 0 and negative ids stand for groups of processes, such as the one of this script
    if (!Number.isInteger(parent) || parent <= 1) throw new Error(`the shell did not tell its parent, but ${JSON.stringify(stdout)}`)
    process.kill(parent, "SIGKILL")
  },
  end: async () => {}
})

/** The id of the agent of a workspace that runs. */
export const agentOf = async (client, workspace) => {
  const { latest_build } = await workspaces.getWorkspace(client, { workspace })
  return latest_build.resources.flatMap(({ agents }) => agents ?? [])[0].id
}

/** Milliseconds within which everything has to go on after a kill. */
export const patience = 180_000

/** Milliseconds until a command runs in each of these workspaces. Fails if one runs too late. */
export const untilAgentsAnswer = async (client, ids) => {
  const begun = performance.now()
  const late = () => {
    throw new Error(`no command ran beside all agents within ${patience / 1000} s`)
  }
  const answers = Promise.all(
    ids.map(async (id) => {
      while (performance.now() - begun < patience) {
        try {
          await processes.exec(client, { workspaceagent: await agentOf(client, id), body: { program: "true" } })
          return
        } catch {
          await sleep(50)
        }
      }
      late()
    })
  )
  // A call may have no answer
  await Promise.race([answers, sleep(patience, undefined, { ref: false }).then(late)])
  return performance.now() - begun
}
