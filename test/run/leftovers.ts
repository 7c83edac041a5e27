/** Sees to it that a test run leaves no process behind, also when the run is killed. On Linux, where environments of processes can be read. */
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { Socket } from "node:net"
import { delimiter } from "node:path"
import { fileURLToPath } from "node:url"

const program = fileURLToPath(new URL("endLeftovers.mjs", import.meta.url))

/** Starts the program that ends each process with this text in its environment once its input is closed, which the end of this process does. */
export const endLater = (mark: string, report: "inherit" | "ignore" = "inherit") => {
  const child = spawn(process.execPath, [program, mark], { detached: true, stdio: ["pipe", "ignore", report] })
  child.unref()
  if (child.stdin instanceof Socket) child.stdin.unref()
  return child
}

export default (): void => {
  if (process.platform !== "linux") return
  const mark = `/atelier-test-run-${randomUUID()}`
  endLater(mark)
  // Workers, and all that they start, inherit it; no such folder exists
  process.env["PATH"] = [process.env["PATH"] ?? "", mark].join(delimiter)
}
