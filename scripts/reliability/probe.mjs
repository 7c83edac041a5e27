// Asks who the user is ten times a second, in a process of its own: what makes the load is as busy as the server, and its delays would count as the server's.
// Tells the milliseconds that each call took, or that it failed.
import { setTimeout as sleep } from "node:timers/promises"

const [port, token] = process.argv.slice(2)

process.once("disconnect", () => process.exit())

for (;;) {
  const asked = performance.now()
  const answer = await fetch(`http://127.0.0.1:${port}/api/v2/users/me`, { headers: { "Service-Session-Token": token } }).catch(
    () => undefined
  )
  await answer?.text()
  const took = performance.now() - asked
  process.send({ took, isAnswered: answer?.status === 200 })
  await sleep(Math.max(0, 100 - took))
}
