import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { describeAgents } from "../agents/AgentServer.js"
import { link, program } from "../network/linkedAgents.js"
import { freePort, has, openSsh, received } from "./openSsh.js"

const isHere = has("ssh")
if (!isHere) process.stderr.write("The tests of SSH are skipped: OpenSSH is not installed.\n")

describeAgents("SSH", (server) => {
  it.skipIf(!isHere)("runs commands, with their input, output, errors and exit status", async () => {
    const agent = await server().anAgent()
    await link(server(), agent)
    const { ssh } = openSsh(server(), agent)
    expect(await ssh(["workspace", "cat; echo err >&2; exit 3"], "in\n")).toMatchObject({ code: 3, stdout: "in\n", stderr: "err\n" })
  })

  it.skipIf(!isHere)("shows the host key that the server tells, to each connection of a workspace", async () => {
    const agent = await server().anAgent()
    const { folder, ssh } = openSsh(server(), agent)
    const path = `/workspaceagents/${agent.id}/ssh-host-key`
    // Before the agent has ever connected
    const { body } = await server().call("GET", path, { token: server().owner().token })
    expect(body).toStrictEqual({ public_key: expect.stringMatching(/^ssh-ed25519 [\w+/]{68}$/) })
    writeFileSync(join(folder, "known_hosts"), `workspace ${(body as { readonly public_key: string }).public_key}\n`)
    const strict = () => ssh(["-o", "StrictHostKeyChecking=yes", "workspace", "true"])
    const first = await link(server(), agent)
    expect(await strict()).toMatchObject({ code: 0, stderr: "" })
    await first.close()
    await link(server(), agent)
    expect(await strict()).toMatchObject({ code: 0, stderr: "" })
    const stranger = await server().aMember()
    expect(await server().call("GET", path, { token: stranger.token })).toMatchObject({ status: 404 })
  })

  it.skipIf(!isHere)("copies files in both directions", async () => {
    const agent = await server().anAgent()
    await link(server(), agent)
    const { base, folder, run } = openSsh(server(), agent)
    const content = Buffer.alloc(3_000_000, "0123456789abcdef!")
    writeFileSync(join(folder, "one"), content)
    await run("scp", [...base, "one", `workspace:${folder}/two`])
    await run("scp", [...base, `workspace:${folder}/two`, "three"])
    expect(readFileSync(join(folder, "three")).equals(content)).toBe(true)
    const batch = ["mkdir d", "rename two d/two", "symlink d/two l", "ln d/two h", "chmod 600 d/two", "df .", "ls -l d", "rm h"]
    writeFileSync(join(folder, "batch"), batch.map((line) => (line.startsWith("mkdir") ? `cd ${folder}\n${line}` : line)).join("\n"))
    const { stdout } = await run("sftp", [...base, "-b", "batch", "workspace"])
    expect(stdout).toMatch(/-rw-------.* 3000000 .*two/)
  })

  it.skipIf(!isHere || !has("rsync") || !has("git"))("carries rsync and git", async () => {
    const agent = await server().anAgent()
    await link(server(), agent)
    const { command, env, folder, run } = openSsh(server(), agent)
    const path = (...names: ReadonlyArray<string>): string => join(folder, ...names)
    mkdirSync(path("tree", "deep"), { recursive: true })
    writeFileSync(path("tree", "deep", "one"), Buffer.alloc(1_000_000, "abc"))
    symlinkSync("deep/one", path("tree", "two"))
    const rsync = (...args: ReadonlyArray<string>) => run("rsync", ["-e", command, "--archive", "--itemize-changes", ...args])
    await rsync("tree/", `workspace:${folder}/copy/`)
    expect(readlinkSync(path("copy", "two"))).toBe("deep/one")
    expect((await rsync("tree/", `workspace:${folder}/copy/`)).stdout).toBe("")
    await rsync("--delete", `workspace:${folder}/copy/deep/`, "back/")
    expect(readFileSync(path("back", "one")).length).toBe(1_000_000)

    const git = (...args: ReadonlyArray<string>) => run("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args])
    env["GIT_SSH_COMMAND"] = command
    await git("init", "--quiet", "--bare", "origin.git")
    await git("clone", "--quiet", `workspace:${folder}/origin.git`, "clone")
    writeFileSync(path("clone", "file"), "content")
    await git("-C", "clone", "add", "file")
    await git("-C", "clone", "commit", "--quiet", "--message", "first")
    await git("-C", "clone", "push", "--quiet", "origin", "HEAD:main")
    await git("clone", "--quiet", "--branch", "main", `workspace:${folder}/origin.git`, "second")
    expect(readFileSync(path("second", "file"), "utf8")).toBe("content")
  })

  it.skipIf(!isHere || !has("sshfs") || !existsSync("/dev/fuse"))("is a file system for sshfs", async ({ skip }) => {
    const agent = await server().anAgent()
    await link(server(), agent)
    const { base, folder, run, start } = openSsh(server(), agent)
    const path = (name: string): string => join(folder, name)
    for (const name of ["kept", "mount"]) mkdirSync(path(name))
    const options = base.flatMap((option, at) => (base[at - 1] === "-o" ? [option.replace("=", " ")] : []))
    writeFileSync(path("config"), `Host workspace\n${options.map((option) => `  ${option}\n`).join("")}`)
    const { ended, errors } = start("sshfs", ["-f", "-F", path("config"), `workspace:${path("kept")}`, path("mount")])
    // Without a mount, there is nothing to end
    onTestFinished(() => void execFileSync("sh", ["-c", `fusermount3 -uz ${path("mount")} 2>/dev/null || true`]))
    const isMounted = async () => (await readFile("/proc/mounts", "utf8")).includes(path("mount"))
    let hasEnded = false
    void ended.then(() => (hasEnded = true))
    await expect.poll(async () => hasEnded || (await isMounted()), { interval: 50 }).toBe(true)
    // A container may have the device without the right to mount
    if (hasEnded && /fusermount/.test(errors())) return skip()
    expect(errors()).toBe("")

    const use = (...lines: ReadonlyArray<string>) => run("sh", ["-e", "-c", lines.join("\n")])
    writeFileSync(path("one"), Buffer.alloc(3_000_000, "0123456789abcdef!"))
    await use(
      "cd mount",
      "cp ../one two",
      "mkdir deep",
      "mv two deep/two",
      "chmod 600 deep/two",
      "ln -s deep/two link",
      "echo more >> deep/two"
    )
    expect(
      (
        await use(
          "head -c 3000000 kept/deep/two | cmp - one",
          "cd mount",
          "stat -c '%a %s' deep/two",
          "readlink link",
          "ls",
          "df . | wc -l"
        )
      ).stdout
    ).toBe("600 3000005\ndeep/two\ndeep\nlink\n2\n")
    expect(readFileSync(path("kept/deep/two"), "latin1").slice(-5)).toBe("more\n")
    await use("rm -r mount/deep mount/link", "fusermount3 -u mount")
    expect(await ended).toMatchObject({ code: 0 })
    expect((await use("ls kept")).stdout).toBe("")
  })

  it.skipIf(!isHere)("forwards ports in both directions", async () => {
    const agent = await server().anAgent()
    await link(server(), agent)
    const target = await program((socket) => socket.end("here"))
    const [local, remote] = [await freePort(), await freePort()]
    const { base, start } = openSsh(server(), agent)
    const forwards = ["-L", `${local}:127.0.0.1:${target}`, "-R", `${remote}:127.0.0.1:${target}`, "-o", "ExitOnForwardFailure=yes"]
    const { child, ended, until } = start("ssh", [...base, ...forwards, "workspace", "echo up; cat"])
    await until(/up/)
    expect(await Promise.all([received(local), received(remote)])).toStrictEqual(["here", "here"])
    child.stdin.end()
    expect(await ended).toMatchObject({ code: 0 })
  })

  it.skipIf(!isHere)("ends with the agent's connection, and is refused without the right to the workspace", async () => {
    const agent = await server().anAgent()
    const { close } = await link(server(), agent)
    const { base, start } = openSsh(server(), agent)
    const { ended, until } = start("ssh", [...base, "workspace", "echo up; sleep 1000"])
    await until(/up/)
    await close()
    expect(await ended).toMatchObject({ code: 255 })
    const stranger = await server().aMember()
    const refused = server().socket(`/workspaceagents/${agent.id}/ssh`, stranger.token).refused
    expect(await refused).toMatchObject({ status: 404 })
  })
})
