// Asks who the user is ten times a second by a connection that is kept, and as often by new ones, in a process of its own: what makes the load is as busy as the server, and its
// delays would count as the server's. Tells the milliseconds that each call took, or that it failed.
import { Agent, get } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"

const [port, token] = process.argv.slice(2)

process.once("disconnect", () => process.exit())

const statusBy = (agent) =>
  new Promise((resolve) => {
    const asked = get(`http://127.0.0.1:${port}/api/v2/users/me`, { agent, headers: { "Service-Session-Token": token } }, (answer) =>
      answer.resume().once("close", () => resolve(answer.statusCode))
    )
    asked.once("error", () => resolve(undefined))
  })

const repeat = async (kind, agent) => {
  for (;;) {
    const begun = performance.now()
    const status = await statusBy(agent)
    const took = performance.now() - begun
    process.send({ kind, took, isAnswered: status === 200 })
    await sleep(Math.max(0, 100 - took))
  }
}

void repeat("kept", new Agent({ keepAlive: true }))
void repeat("new", false)
