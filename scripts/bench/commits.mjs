// Another commit, built in a worktree of its own.
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { constants, cpSync, existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const checkout = fileURLToPath(new URL("../../", import.meta.url))

/** Runs a program to its end. It ends with this process, and with what it has started. */
const run = async (command, args, cwd) => {
  // A group of its own, so that what it has started ends with it
  const child = spawn(command, args, { cwd, detached: true, stdio: ["ignore", "inherit", "inherit"] })
  const end = () => {
    try {
      process.kill(-child.pid, "SIGKILL")
    } catch {
      // It has ended
    }
  }
  process.once("exit", end)
  const [code] = await once(child, "close")
  process.off("exit", end)
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}`)
}

/** What git answers about this checkout. */
const git = (...args) => {
  const { status, stderr, stdout } = spawnSync("git", args, { cwd: checkout, encoding: "utf8" })
  if (status !== 0) throw new Error(stderr.trim())
  return stdout.trim()
}

/** The folders with installed packages, of the whole and of its parts. */
const installed = () => {
  const parts = ["packages", "examples"].flatMap((folder) => readdirSync(join(checkout, folder)).map((name) => join(folder, name)))
  return [".", ...parts].map((part) => join(part, "node_modules")).filter((folder) => existsSync(join(checkout, folder)))
}

/** Builds a commit. What this checkout has installed is taken over, and brought to what the commit's lock file says. */
const build = async (commit, path) => {
  git("worktree", "add", "--quiet", "--detach", path, commit)
  for (const folder of installed()) {
    const into = join(path, folder)
    if (!existsSync(join(into, ".."))) continue
    cpSync(join(checkout, folder), into, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE })
  }
  await run(process.execPath, ["scripts/install.mjs"], path)
  await run("npm", ["run", "--silent", "build"], path)
}

/** What the standalone server of this checkout needs, so that a build that begins meanwhile changes nothing of it. */
const copyOfThis = (path) => {
  for (const part of ["package.json", "packages/atelier"]) cpSync(join(checkout, part), join(path, part), { recursive: true })
  symlinkSync(join(checkout, "node_modules"), join(path, "node_modules"))
}

/** The URLs of this checkout's server and of a built worktree of a commit. Both are gone when this process is. */
export const builtCommit = async (name) => {
  const began = performance.now()
  const commit = git("rev-parse", "--verify", `${name}^{commit}`)
  const changes = git("status", "--porcelain", "--untracked-files=no") === "" ? "" : " with changes"
  console.log(`this checkout, ${git("rev-parse", "--short", "HEAD")}${changes}, against ${git("log", "-1", "--format=%h of %cI", commit)}`)
  const directory = mkdtempSync(join(tmpdir(), "atelier-compare-"))
  process.once("exit", () => {
    rmSync(directory, { recursive: true, force: true })
    git("worktree", "prune")
  })
  const [ours, theirs] = ["this", "base"].map((part) => join(directory, part))
  copyOfThis(ours)
  await build(commit, theirs)
  console.log(`built within ${Math.round((performance.now() - began) / 1000)} seconds`)
  return { own: pathToFileURL(`${ours}/`), other: pathToFileURL(`${theirs}/`) }
}
