// Ends what a test run leaves behind, when the run is over or was killed: its end closes this program's input. Agents and Terraform are made to
// outlive the process that starts them, and are found by a folder that the run has put into PATH, which they inherit. Then it removes the run's
// temporary files.
import { readdirSync, readFileSync, rmSync } from "node:fs"

const [mark = "", folder] = process.argv.slice(2)

/** Whether the process was started by the run. Processes come and go during the scan, and those of other users are not ours. */
const isOfRun = (pid) => {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").includes(mark)
  } catch {
    return false
  }
}

const commandOf = (pid) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim().slice(0, 200)
  } catch {
    return ""
  }
}

const endAll = () => {
  // Some may start others while they are ended
  for (let round = 0; round < 20; round++) {
    const left = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid && isOfRun(name))
    if (left.length === 0) return
    for (const pid of left) {
      if (round === 0) process.stderr.write(`left by the tests, and ended: ${pid} ${commandOf(pid)}\n`)
      try {
        process.kill(Number(pid), "SIGKILL")
      } catch {
        // It has ended by itself
      }
    }
  }
}

const clear = () => {
  endAll()
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
}

process.stderr.on("error", () => undefined)
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined)
process.stdin.on("end", clear).on("error", clear).resume()
