// Two commits, each built in a worktree of its own, so that neither runs what the other or an unfinished change has built.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { temporaryDirectory } from "./databases.mjs"

const checkout = fileURLToPath(new URL("../../", import.meta.url))

/** Milliseconds for a build of a commit, and for the measurement of both. */
const longest = 30 * 60_000

/** Runs a program to its end, and answers what it writes where `isRead`. */
const run = async (command, args, { cwd = checkout, isRead = false } = {}) => {
  const child = spawn(command, args, { cwd, timeout: longest, stdio: ["ignore", isRead ? "pipe" : "inherit", "inherit"] })
  let text = ""
  child.stdout?.on("data", (bytes) => (text += bytes))
  const [code] = await once(child, "close")
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}`)
  return text.trim()
}

/** Builds a commit in a new worktree. */
const build = async (commit, path) => {
  await run("git", ["worktree", "add", "--detach", path, commit])
  await run(process.execPath, ["scripts/install.mjs"], { cwd: path })
  await run("npm", ["run", "--silent", "build"], { cwd: path })
}

/** Measures the commit of this checkout against another one, in turns. `args` are the other arguments of the benchmark. Answers its exit code. */
export const compareCommits = async (base, args) => {
  const [ours, theirs] = await Promise.all(
    ["HEAD", base].map((name) => run("git", ["rev-parse", "--verify", `${name}^{commit}`], { isRead: true }))
  )
  const directory = await temporaryDirectory()
  const [mine, other] = ["head", "base"].map((name) => join(directory.path, name))
  try {
    console.log(`building ${ours.slice(0, 10)} and ${theirs.slice(0, 10)}`)
    await build(ours, mine)
    await build(theirs, other)
    const child = spawn(process.execPath, ["scripts/bench/main.mjs", "--against", other, ...args], {
      cwd: mine,
      timeout: longest,
      stdio: "inherit"
    })
    const [code] = await once(child, "close")
    return code ?? 1
  } finally {
    await directory.remove()
    await run("git", ["worktree", "prune"])
  }
}
