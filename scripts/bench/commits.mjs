// Two commits, each built in a worktree of its own, so that neither runs what the other or an unfinished change has built.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { constants, cpSync, existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { temporaryDirectory } from "./databases.mjs"

const checkout = fileURLToPath(new URL("../../", import.meta.url))

/** Milliseconds for a comparison as a whole: a quick one is for every change. */
const longest = { quick: 10 * 60_000, full: 90 * 60_000 }

/** Runs a program to its end, and answers what it writes where `isRead`. It ends with the signal. */
const run = async (command, args, { cwd = checkout, isRead = false, signal } = {}) => {
  // A group of its own, so that what it has started ends with it
  const child = spawn(command, args, { cwd, detached: true, stdio: ["ignore", isRead ? "pipe" : "inherit", "inherit"] })
  const end = () => {
    try {
      process.kill(-child.pid, "SIGTERM")
    } catch {
      // It has ended
    }
  }
  signal?.addEventListener("abort", end)
  process.once("exit", end)
  let text = ""
  child.stdout?.on("data", (bytes) => (text += bytes))
  const [code] = await once(child, "close")
  signal?.removeEventListener("abort", end)
  process.off("exit", end)
  return { code, text: text.trim() }
}

const succeed = async (command, args, options) => {
  const { code, text } = await run(command, args, options)
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}`)
  return text
}

/** The folders with installed packages, of the whole and of its parts. */
const installed = () => {
  const parts = ["packages", "examples"].flatMap((folder) => readdirSync(join(checkout, folder)).map((name) => join(folder, name)))
  return [".", ...parts].map((part) => join(part, "node_modules")).filter((folder) => existsSync(join(checkout, folder)))
}

/** Builds a commit in a new worktree. What this checkout has installed is taken over, and brought to what the commit's lock file says. */
const build = async (commit, path, signal) => {
  await succeed("git", ["worktree", "add", "--quiet", "--detach", path, commit], { signal })
  for (const folder of installed()) {
    const into = join(path, folder)
    if (!existsSync(join(into, ".."))) continue
    cpSync(join(checkout, folder), into, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE })
  }
  await succeed(process.execPath, ["scripts/install.mjs"], { cwd: path, signal })
  await succeed("npm", ["run", "--silent", "build"], { cwd: path, signal })
}

/** Measures the commit of this checkout against another one, in turns. `args` are the other arguments of the benchmark. Answers its exit code. */
export const compareCommits = async (base, { args, isQuick }) => {
  const began = performance.now()
  const minutes = () => ((performance.now() - began) / 60_000).toFixed(1)
  const [ours, theirs] = await Promise.all(
    ["HEAD", base].map((name) => succeed("git", ["rev-parse", "--verify", `${name}^{commit}`], { isRead: true }))
  )
  const directory = await temporaryDirectory()
  const [mine, other] = ["head", "base"].map((name) => join(directory.path, name))
  const limit = isQuick ? longest.quick : longest.full
  const over = new AbortController()
  const end = () => over.abort()
  const timer = setTimeout(end, limit)
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, end)
  try {
    console.log(`building ${ours.slice(0, 10)} and ${theirs.slice(0, 10)}; the comparison ends within ${limit / 60_000} minutes`)
    await build(ours, mine, over.signal)
    await build(theirs, other, over.signal)
    console.log(`built after ${minutes()} minutes`)
    const { code } = await run(process.execPath, ["scripts/bench/main.mjs", "--against", other, ...args], {
      cwd: mine,
      signal: over.signal
    })
    console.log(`compared within ${minutes()} minutes`)
    return code ?? 1
  } catch (error) {
    if (!over.signal.aborted) throw error
    return 1
  } finally {
    clearTimeout(timer)
    if (over.signal.aborted) console.log(`ended early, after ${minutes()} minutes`)
    // What was ended may still write
    await sleep(over.signal.aborted ? 1000 : 0)
    await directory.remove()
    await succeed("git", ["worktree", "prune"])
  }
}
