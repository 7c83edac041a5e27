// Loaded before the program of a server under test, of any commit: it answers what the measuring process asks of the server's process.
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/** After a collection, so that garbage is not counted as memory. */
const usage = async () => {
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc")
  for (let round = 0; round < 3; round++) {
    collect()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return process.memoryUsage()
}

const answers = { cpu: async () => process.cpuUsage(), usage }

process.on("message", async ({ command, id }) => process.send({ id, value: await answers[command]() }))
process.on("disconnect", () => process.exit())
