/**
 * Sees to it that a test run leaves no temporary file behind, and, on Linux, where environments of processes can be read, no process. There it does
 * so also when the run is killed.
 */
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { Socket } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"

const program = fileURLToPath(new URL("endLeftovers.mjs", import.meta.url))

/**
 * Starts the program that ends each process with this text in its environment, and removes the folder, once its input is closed, which the end of this
 * process does.
 */
export const endLater = (mark: string, folder: string, report: "inherit" | "ignore" = "inherit") => {
  const child = spawn(process.execPath, [program, mark, folder], { detached: true, stdio: ["pipe", "ignore", report] })
  child.unref()
  if (child.stdin instanceof Socket) child.stdin.unref()
  return child
}

export default async (): Promise<(() => Promise<void>) | undefined> => {
  // With a short name: paths of sockets have at most 107 characters
  const folder = await mkdtemp(join(tmpdir(), "at-"))
  // Databases and browsers may run as other users
  await chmod(folder, 0o755)
  // Workers, and all that they start, inherit it, and the path
  process.env["TMPDIR"] = folder
  if (process.platform !== "linux") return () => rm(folder, { recursive: true, force: true })
  const mark = `/atelier-test-run-${randomUUID()}`
  endLater(mark, folder)
  // No such folder exists
  process.env["PATH"] = [process.env["PATH"] ?? "", mark].join(delimiter)
  return undefined
}
