/** The commands against a service with workspaces on this machine: as processes where that matters, the others in this one. */
import type { Workspace } from "@atelier/client"
import * as workspaces from "@atelier/client/workspaces"
import { spawn, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { once } from "node:events"
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { connect } from "node:net"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { breakable } from "./breakable.js"
import { loginTests } from "./commands/logins.js"
import { optionTests } from "./commands/options.js"
import { taskTests } from "./commands/tasks.js"
import { terminalTests } from "./commands/terminal.js"
import { untested } from "./commands/untested.js"
import { ended, isThorough, password, type Service, startService } from "./service.js"

/** A context's token. */
const tokenOf = async (service: Service): Promise<string> => {
  const { stdout } = await service.run(["context", "list", "-o", "json"])
  const [{ name }] = JSON.parse(stdout)
  return JSON.parse(await readFile(join(service.directory, "config/atelier/contexts", `${name}.json`), "utf8")).token
}

const workspaceNamed = (service: Service, workspacename: string): Promise<Workspace> =>
  workspaces.getWorkspaceByName(service.ada, { user: "ada", workspacename })

describe.each(isThorough ? (["SQLite", "PostgreSQL"] as const) : (["SQLite"] as const))("the command line on %s", (database) => {
  let service: Service

  beforeAll(async () => {
    service = await startService(database)
    // Imports the template
    await using imported = await service.ada.sandboxes.create({ template: "shell" })
    expect(imported.name).toContain("sandbox-")
    const login = await service.runProgram(["login", service.url, "--email", "ada@example.com", "--password-stdin"], {
      stdin: `${password}\n`
    })
    expect(login).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("as ada.") })
  })
  afterAll(() => service.close())

  const succeed = async (...args: ReadonlyArray<string>): Promise<string> => {
    const { code, stderr, stdout } = await service.run(args)
    expect({ args, code, stderr: code === 0 ? "" : stderr }).toStrictEqual({ args, code: 0, stderr: "" })
    return stdout
  }

  describe("logs in", () => {
    it("by password, token and environment, and refuses what is wrong", async () => {
      expect(JSON.parse(await succeed("whoami", "-o", "json"))).toMatchObject({ username: "ada", url: service.url })
      const token = await tokenOf(service)
      const config = { XDG_CONFIG_HOME: join(service.directory, "other") }
      const [byToken, byEnvironment, wrongPassword, nowhere, elsewhere, nobody] = await Promise.all([
        service.run(["login", service.url, "--token-stdin", "--name", "mine"], { env: config, stdin: `${token}\n` }),
        service.run(["whoami"], { env: { XDG_CONFIG_HOME: "/none", ATELIER_URL: service.url, ATELIER_TOKEN: token } }),
        service.run(["login", service.url, "-e", "ada@example.com", "--password-stdin"], { stdin: "wrong" }),
        service.run(["login", "http://127.0.0.1:1", "--token-stdin"], { stdin: "x" }),
        // The token of a login goes to its own service alone
        service.run(["whoami", "--url", "http://127.0.0.1:1"]),
        service.run(["list"], { env: { XDG_CONFIG_HOME: "/none" } })
      ])
      expect(byToken).toMatchObject({ code: 0, stderr: expect.stringContaining('The context is "mine".') })
      expect(byEnvironment.stdout).toContain("ada@example.com")
      // As the user types it
      const { host } = new URL(service.url)
      expect((await service.run(["whoami", "--url", host])).stdout).toContain("ada@example.com")
      expect(await service.run(["whoami"], { env: { ATELIER_URL: "ftp://dev.example.com", ATELIER_TOKEN: token } })).toMatchObject({
        code: 2,
        stderr: 'Error: url: "ftp://dev.example.com" must begin with https:// or http://.\n'
      })
      expect(wrongPassword).toMatchObject({
        code: 3,
        stderr: expect.stringMatching(/^Error: .*\nTo do: check the email address and the password\.\n$/)
      })
      expect(nowhere).toMatchObject({
        code: 6,
        stderr: expect.stringMatching(/The service did not answer\.\n {2}.*\nTo do: check the address and the network\.\n$/)
      })
      expect(elsewhere).toMatchObject({ code: 3, stderr: expect.stringContaining("The login is for") })
      expect(nobody).toMatchObject({ code: 3, stderr: expect.stringContaining("You are not logged in.") })

      const contexts = await service.run(["context", "list"], { env: config })
      expect(contexts.stdout).toMatch(/^NAME +CURRENT +USER +ADDRESS\nmine +\* +ada +http/)
      expect((await service.run(["context", "use", "none"], { env: config })).code).toBe(4)
      expect((await service.run(["context", "use", "mine"], { env: config })).code).toBe(0)
      expect((await service.run(["context", "remove", "mine"], { env: config })).code).toBe(0)
      expect((await service.run(["list"], { env: config })).code).toBe(3)
    })

    loginTests(
      () => service,
      () => tokenOf(service)
    )

    it("and leaves whole files when it is killed at any moment", async () => {
      const token = await tokenOf(service)
      const env = { XDG_CONFIG_HOME: join(service.directory, "killed"), HOME: join(service.directory, "killed") }
      const config = join(env.HOME, ".ssh/config")
      const before = "Host elsewhere\n"
      await mkdir(join(env.HOME, ".ssh"), { recursive: true })
      await writeFile(config, before)
      const killed = async (args: ReadonlyArray<string>, delay: number): Promise<void> => {
        const child = service.start(args, { env })
        child.stdin?.on("error", () => undefined)
        child.stdin?.end(token)
        setTimeout(() => child.kill("SIGKILL"), delay)
        await once(child, "close")
      }
      for (const delay of [60, 90, 120, 150]) {
        await Promise.all([killed(["login", service.url, "--token-stdin"], delay), killed(["config-ssh"], delay)])
        const { code, stdout } = await service.run(["context", "list", "-o", "json"], { env })
        expect(code).toBe(0)
        for (const context of JSON.parse(stdout)) expect(context).toMatchObject({ username: "ada", url: service.url })
        expect(await readFile(config, "utf8")).toMatch(/^(?:Include "[^\n]+"\n)?Host elsewhere\n$/)
      }
    })

    it("and keeps its token where only the user can read it", async () => {
      const folder = join(service.directory, "config/atelier/contexts")
      const modes = await Promise.all((await readdir(folder)).map(async (name) => (await stat(join(folder, name))).mode & 0o777))
      expect(modes).toStrictEqual([0o600])
    })
  })

  it("takes a workspace from its creation to its end", async () => {
    const created = await service.run(["create", "first", "--template", "shell"])
    expect(created).toMatchObject({ code: 0, stdout: "", stderr: expect.stringMatching(/==> Starting workspace[^]*ada\/first is running/) })
    expect(await succeed("list")).toMatch(/^WORKSPACE +STATUS +TEMPLATE.*\nfirst +running +shell/)
    const all = JSON.parse(await succeed("ls", "--all", "--output", "json"))
    expect(all.map(({ name }: { readonly name: string }) => name)).toStrictEqual(["first"])
    expect(await succeed("show", "ada/first")).toMatch(/Agent main +connected, ready/)
    // Agents send their last lines after they are ready
    await vi.waitFor(async () => expect(await succeed("logs", "first")).toMatch(/==> Setting up[^]*Ready\n/), { timeout: 60_000 })
    expect(JSON.parse((await succeed("logs", "first.main", "-o", "jsonl")).split("\n")[0] ?? "")).toMatchObject({
      source: "agent",
      agent: "main"
    })

    expect(JSON.parse(await succeed("stop", "first", "-qo", "json"))).toMatchObject({ latest_build: { status: "stopped" } })
    expect(await service.run(["stop", "first"])).toMatchObject({ code: 0, stderr: expect.stringContaining("stopped already") })
    expect(JSON.parse(await succeed("start", "first", "-qo", "json"))).toMatchObject({
      latest_build: { status: "running", build_number: 3 }
    })
    expect(JSON.parse(await succeed("restart", "first", "-qo", "json"))).toMatchObject({
      latest_build: { status: "running", build_number: 5 }
    })
    await succeed("restart", "first", "--detach")
    expect(JSON.parse(await succeed("start", "first", "-qo", "json"))).toMatchObject({
      latest_build: { status: "running", build_number: 7 }
    })
    expect(await service.run(["update", "first"])).toMatchObject({ code: 0, stderr: expect.stringContaining("active version already") })
    const begun = JSON.parse(await succeed("create", "brief", "-t", "shell", "--detach", "-qo", "json"))
    expect(begun.latest_build.template_version_name).not.toBe("")
    await succeed("delete", "brief", "--yes")

    expect(await succeed("rename", "first", "second", "-o", "json")).toContain('"second"')
    expect((await service.run(["show", "first"])).code).toBe(4)
    expect(await service.run(["delete", "second"])).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") })
    expect(await service.run(["delete", "second", "--yes"])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("ada/second is deleted.")
    })
    expect(await succeed("list", "-o", "jsonl")).toBe("")
  })

  describe("in a workspace", () => {
    beforeAll(async () => {
      await service.ada.sandboxes.create({ template: "shell", name: "box" })
    })

    it("runs commands with their streams and exit codes", async () => {
      const [streams, killed, missing, whole, line, folder, stuck, none] = await Promise.all([
        service.runProgram(["exec", "box", "-qe", "WORD=there", "--", "sh", "-c", 'cat; echo "hello $WORD" >&2; exit 7'], {
          stdin: "piped\n"
        }),
        service.run(["exec", "box", "-n", "--", "sh", "-c", "kill -9 $$"]),
        service.run(["exec", "box", "-n", "no-such-program"]),
        service.run(["exec", "box", "-n", "--", "echo one; exit 3"]),
        service.run(["ssh", "box", "-n", "--", "echo one | wc -l"]),
        service.run(["exec", "box", "-n", "--cwd", "projects", "pwd"]),
        service.run(["exec", "box", "-n", "--timeout", "1s", "sleep", "60"]),
        service.run(["exec", "nobox", "-n", "true"])
      ])
      expect(streams).toStrictEqual({ code: 7, stdout: "piped\n", stderr: "hello there\n" })
      expect(killed.code).toBe(137)
      expect(missing).toMatchObject({ code: 255, stderr: "Error: The command did not start: no-such-program is not found.\n" })
      expect(whole).toMatchObject({
        code: 255,
        stderr: expect.stringMatching(
          /did not start: echo one; exit 3 is not found\.\nTo do: give a program and its arguments; sh -c 'LINE' runs/
        )
      })
      expect(line).toMatchObject({ code: 0, stdout: "1\n" })
      expect(folder.stdout).toMatch(/\/projects\n$/)
      expect(stuck.code).toBeGreaterThan(128)
      expect(none.code).toBe(255)
    })

    it("leaves what a command has started in the background", async () => {
      const line = "nohup sleep 1000 > /dev/null 2>&1 < /dev/null & echo $!"
      const pids: Array<number> = []
      try {
        for (const args of [
          ["exec", "box", "-n", "--", "sh", "-c", line],
          ["ssh", "box", "-n", "--", line]
        ]) {
          const { code, stdout } = await service.run(args)
          expect(code).toBe(0)
          pids.push(Number(stdout))
        }
        const box = await service.ada.sandboxes.get((await workspaceNamed(service, "box")).id)
        for (const pid of pids) expect(await box.exec(`kill -0 ${pid}`)).toMatchObject({ exitCode: 0 })
      } finally {
        for (const pid of pids) process.kill(pid, "SIGKILL")
      }
    })

    it("passes an interruption on", async () => {
      const child = service.start(["exec", "box", "-n", "--", "sh", "-c", "trap 'echo caught; exit 9' INT; echo ready; sleep 60 & wait"])
      const done = ended(child)
      await new Promise((resolve) => child.stdout?.once("data", resolve))
      child.kill("SIGINT")
      expect(await done).toMatchObject({ code: 9 })
    })

    it("copies files and directories both ways, and goes on with a copy", async () => {
      const local = join(service.directory, "local")
      await mkdir(join(local, "tree/inner"), { recursive: true })
      await writeFile(join(local, "tree/inner/run.sh"), "echo run\n", { mode: 0o755 })
      await symlink("inner/run.sh", join(local, "tree/link"))
      await writeFile(join(local, "data"), "0123456789")
      const cp = (...paths: ReadonlyArray<string>) => service.runProgram(["cp", ...paths], { cwd: local })
      expect(await cp("tree", "box:")).toMatchObject({ code: 0, stderr: expect.stringContaining("3 entries") })
      expect(await cp("data", "box:projects/new/data")).toMatchObject({ code: 0 })
      expect(await service.run(["cp", "-", "box:from-stdin"], { stdin: "streamed" })).toMatchObject({ code: 0 })
      expect((await cp("box:from-stdin", "-")).stdout).toBe("streamed")
      expect(await cp("box:tree", "back")).toMatchObject({ code: 0, stderr: "Copied 3 entries, 9 B.\n" })
      expect(await readFile(join(local, "back/link"), "utf8")).toBe("echo run\n")
      expect((await stat(join(local, "back/inner/run.sh"))).mode & 0o777).toBe(0o755)

      const { etag } = await (await service.ada.sandboxes.get((await workspaceNamed(service, "box")).id)).files.stat("projects/new/data")
      const part = `.data.${Buffer.from(etag ?? "")
        .toString("base64url")
        .slice(0, 24)}.part`
      await rm(join(local, "data"))
      await writeFile(join(local, part), "01234")
      expect(await cp("box:projects/new/data", ".")).toMatchObject({ code: 0, stderr: expect.stringContaining("Going on after 5 B.") })
      expect(await readFile(join(local, "data"), "utf8")).toBe("0123456789")
      expect((await readdir(local)).toSorted()).toStrictEqual(["back", "data", "tree"])
      const large = Buffer.alloc(40 * 1024 * 1024, "large ")
      await writeFile(join(local, "large"), large)
      const sending = service.start(["cp", "large", "box:large"], { cwd: local })
      const box = await service.ada.sandboxes.get((await workspaceNamed(service, "box")).id)
      const arriving = async (): Promise<boolean> =>
        (await box.files.list(".")).some(({ name, size }) => name.endsWith(".part") && size > 0)
      await expect.poll(arriving, { interval: 5 }).toBe(true)
      sending.kill("SIGKILL")
      await once(sending, "close")
      expect(await cp("large", "box:large")).toMatchObject({ code: 0, stderr: expect.stringContaining("Going on after ") })
      expect((await box.exec("sha256sum large")).stdout).toContain(createHash("sha256").update(large).digest("hex"))
      expect((await box.files.list(".")).map(({ name }) => name)).toContain("large")
      expect(await arriving()).toBe(false)
      await rm(join(local, "large"))

      // A connection that is cut in the middle of a copy
      const way = await breakable(service.url, 8 * 1024 * 1024)
      const cut = { cwd: local, env: { ATELIER_URL: way.url, ATELIER_TOKEN: await tokenOf(service) } }
      const told = /was lost\.\nTo do: run the command again: the copy of a file goes on where it was\.\n$/
      expect(await service.runProgram(["cp", "box:large", "."], cut)).toMatchObject({ code: 6, stderr: expect.stringMatching(told) })
      way.close()
      expect(await cp("box:large", ".")).toMatchObject({ code: 0, stderr: expect.stringContaining("Going on after ") })
      expect(large.equals(await readFile(join(local, "large")))).toBe(true)
      await rm(join(local, "large"))

      expect(await cp("box:none", ".")).toMatchObject({ code: 4, stderr: expect.stringContaining("none: does not exist.") })
      expect((await cp("data", "other")).code).toBe(2)
      expect(await cp("box:from-stdin", "/dev/null/x")).toMatchObject({ code: 1, stderr: "Error: /dev/null/x: is not in a directory.\n" })
    })

    it("forwards ports until it is interrupted", async () => {
      // In the workspace: the service refuses ports of other programs
      const { id } = await workspaceNamed(service, "box")
      const script =
        'const s = require("net").createServer((c) => c.end("from the workspace")).listen(0, "127.0.0.1", () => console.log(s.address().port))'
      const target = await (await service.ada.sandboxes.get(id)).spawn([process.execPath, "-e", script])
      const { value } = await target.stdout.getReader().read()
      const port = Number(Buffer.from(value ?? []).toString())
      const child = service.start(["port-forward", "box", `0:${port}`, "-o", "jsonl"])
      const done = ended(child)
      const [line] = await once(createInterface({ input: child.stdout ?? process.stdin }), "line")
      const connection = connect(JSON.parse(String(line)).local, "127.0.0.1")
      const received: Array<Buffer> = []
      for await (const chunk of connection) received.push(chunk as Buffer)
      expect(Buffer.concat(received).toString()).toBe("from the workspace")
      child.kill("SIGINT")
      expect((await done).code).toBe(130)

      const proxy = service.start(["socks", "box", "--port", "0", "-o", "jsonl"])
      const over = ended(proxy)
      const [bound] = await once(createInterface({ input: proxy.stdout ?? process.stdin }), "line")
      const { port: socks } = JSON.parse(String(bound))
      const through = async (request: ReadonlyArray<number>): Promise<Buffer> => {
        const socket = connect(socks, "127.0.0.1")
        socket.write(Uint8Array.of(5, 1, 0))
        await once(socket, "data")
        socket.write(Uint8Array.from(request))
        const chunks: Array<Buffer> = []
        for await (const chunk of socket) chunks.push(chunk as Buffer)
        return Buffer.concat(chunks)
      }
      const [name, high, low] = [[...Buffer.from("localhost")], port >> 8, port & 255]
      const answer = await through([5, 1, 0, 3, name.length, ...name, high, low])
      expect([answer[1], answer.subarray(10).toString()]).toStrictEqual([0, "from the workspace"])
      // Other machines are not for the proxy
      expect((await through([5, 1, 0, 1, 192, 0, 2, 1, 0, 80]))[1]).toBe(2)
      proxy.kill("SIGINT")
      expect((await over).code).toBe(130)
      await target.delete()
      expect((await service.run(["port-forward", "box", "53/udp"])).code).toBe(2)
    })

    it("lets OpenSSH in by name, and changes one line of the user's file", async (test) => {
      if (spawnSync("ssh", ["-V"]).error !== undefined) return test.skip("OpenSSH is not installed")
      const config = join(service.directory, ".ssh/config")
      await mkdir(join(service.directory, ".ssh"), { recursive: true })
      await writeFile(config, "Host elsewhere\n  User me\n", { mode: 0o640 })
      expect((await service.run(["config-ssh", "--dry-run"])).stdout).toContain("would get the line Include")
      expect(await readFile(config, "utf8")).toBe("Host elsewhere\n  User me\n")
      expect((await service.runProgram(["config-ssh"])).code).toBe(0)
      expect((await service.runProgram(["config-ssh"])).code).toBe(0)
      expect(await readFile(config, "utf8")).toMatch(/^Include "[^\n]+"\nHost elsewhere\n {2}User me\n$/)
      expect((await stat(config)).mode & 0o777).toBe(0o640)
      const ssh = (...args: ReadonlyArray<string>) =>
        ended(spawn("ssh", ["-F", config, ...args], { env: { PATH: process.env["PATH"] ?? "", HOME: service.directory } }))
      expect(await ssh("box.ada.atelier", "echo by name; exit 5")).toMatchObject({ code: 5, stdout: "by name\n" })
      expect(await ssh("nobox.atelier", "true")).toMatchObject({ code: 255, stderr: expect.stringContaining("There is no workspace") })
      expect((await service.run(["config-ssh", "--remove"])).code).toBe(0)
      expect(await readFile(config, "utf8")).toBe("Host elsewhere\n  User me\n")
    })

    it("runs a command in a sandbox that is gone afterwards", async () => {
      expect(await service.run(["sandbox", "run", "node:22", "-n", "--", "true"])).toMatchObject({
        code: 255,
        stderr: expect.stringMatching(/No template takes the image node:22\.\nTo do: push one/)
      })
      await mkdir(join(service.directory, "imaged"))
      await writeFile(
        join(service.directory, "imaged/template.yaml"),
        "parameters:\n  - name: image\n    default: none\nagents:\n  - name: main\n    env:\n      IMAGE: ${parameter.image}\n"
      )
      await service.run(["templates", "push", "imaged", "-d", join(service.directory, "imaged")])
      expect(await service.run(["sandbox", "run", "node:22", "-n", "--no-tty", "--", "sh", "-c", "echo $IMAGE"])).toMatchObject({
        code: 0,
        stdout: "node:22\n"
      })
      expect(await service.run(["sandbox", "run", "shell", "--", "sh", "-c", "cat; exit 3"], { stdin: "in" })).toMatchObject({
        code: 3,
        stdout: "in"
      })
      const left = JSON.parse(await succeed("list", "-o", "json")) as ReadonlyArray<{
        readonly name: string
        readonly latest_build: { readonly transition: string }
      }>
      expect(left.filter(({ latest_build }) => latest_build.transition !== "delete").map(({ name }) => name)).toStrictEqual(["box"])
    })
  })

  describe("has options and", () => {
    optionTests(() => service, succeed)
  })

  describe("on a terminal", () => {
    terminalTests(
      () => service,
      () => tokenOf(service)
    )
  })

  describe("administers", () => {
    it("templates, from a starter to their end", async () => {
      const folder = join(service.directory, "small")
      expect((await service.run(["templates", "init", folder])).stderr).toContain("--from: is missing.")
      expect(await succeed("templates", "init", folder, "--from", "shell")).toBe("")
      expect(await readdir(folder)).toContain("template.yaml")
      const unnamed = join(service.directory, "no_name")
      await succeed("templates", "init", unnamed, "--from", "shell")
      for (const words of [[], ["new"]]) {
        // The log of the import would come first
        expect(await service.run(["templates", "push", ...words, "-d", unnamed])).toMatchObject({
          code: 2,
          stderr: expect.stringMatching(
            /^Error: "(?:no_name", the folder's name,|new") cannot be the name of a template\.\nTo do: a name has/
          )
        })
      }
      const pushed = await service.runProgram(["templates", "push", "-m", "first"], { cwd: folder })
      expect(pushed).toMatchObject({ code: 0, stderr: expect.stringContaining("Created the template small") })
      const again = await service.run(["templates", "push", "small", "-d", folder, "--name", "second", "-qo", "json"])
      expect(JSON.parse(again.stdout)).toMatchObject({ name: "second" })
      expect(await succeed("templates", "versions", "small")).toMatch(/second +\* +succeeded +ada/)
      expect(await succeed("templates", "list")).toMatch(/\nsmall +default/)
      expect(await succeed("templates", "edit", "small", "--title", "A small one")).toContain("A small one")
      expect(
        await succeed("templates", "edit", "small", "--rename", "tiny", "--stop-after", "3h", "--description", "It is small.")
      ).toMatch(/tiny[^]*It is small[^]*3h after a start/)
      await succeed("templates", "edit", "tiny", "--rename", "small")

      const [first] = JSON.parse(await succeed("templates", "versions", "small", "-o", "json")).filter(
        ({ name }: { readonly name: string }) => name !== "second"
      )
      await succeed("templates", "edit", "small", "--activate", first.name)
      await succeed("create", "older", "-t", "small", "-q")
      await succeed("templates", "edit", "small", "--activate", "second")
      expect(await succeed("list", "-s", "name:older")).toMatch(/older +running +small +yes/)
      expect(await service.run(["update", "older"])).toMatchObject({
        code: 0,
        stderr: expect.stringContaining("ada/older is updated and running.")
      })
      expect(await succeed("show", "older")).toMatch(/small \(second\)/)
      await succeed("delete", "older", "--yes", "-q")

      await succeed("templates", "pull", "small", join(service.directory, "pulled"))
      expect(await readFile(join(service.directory, "pulled/template.yaml"), "utf8")).toBe(
        await readFile(join(folder, "template.yaml"), "utf8")
      )
      await writeFile(join(folder, "template.yaml"), "agents: [")
      expect(await service.runProgram(["templates", "push"], { cwd: folder })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("template.yaml:1:")
      })
      expect((await service.run(["templates", "delete", "small"])).code).toBe(2)
      expect(await succeed("templates", "delete", "small", "--yes")).toBe("")
      expect((await service.run(["templates", "versions", "small"])).code).toBe(4)
    })

    taskTests(() => service, succeed)

    it("tokens and users", async () => {
      const token = (await succeed("tokens", "create", "--name", "robot", "--lifetime", "1h")).trim()
      const env = { XDG_CONFIG_HOME: "/none", ATELIER_URL: service.url, ATELIER_TOKEN: token }
      expect(await succeed("tokens", "list")).toMatch(/robot.* never /)
      expect((await service.run(["whoami"], { env })).stdout).toContain("ada")
      await succeed("tokens", "delete", "robot")
      expect(await service.run(["whoami"], { env })).toMatchObject({
        code: 3,
        stderr: expect.stringMatching(/To do: set ATELIER_TOKEN to a valid token, or unset it to use a login\.\n$/)
      })
      expect(await service.run(["whoami"], { env: { ...env, ATELIER_URL: "http://127.0.0.1:1" } })).toMatchObject({
        code: 6,
        stderr: expect.stringMatching(/To do: check the network, and the address in ATELIER_URL or "atelier context list"\.\n$/)
      })

      const created = await service.run(["users", "create", "bob", "-e", "bob@example.com", "--password-stdin"], { stdin: password })
      expect(created).toMatchObject({ code: 0, stderr: expect.stringContaining("Created the user bob.") })
      expect(await succeed("users", "show", "bob")).toContain("bob@example.com")
      await succeed("users", "suspend", "bob")
      expect(await succeed("users", "list", "-s", "status:suspended")).toContain("bob")
      await succeed("users", "activate", "bob")
      await succeed("users", "delete", "bob", "--yes")
      for (const word of ["show", "suspend", "activate", "delete"]) {
        const gone = await service.run(["users", word, "bob", ...(word === "delete" ? ["-y"] : [])])
        expect(gone).toMatchObject({ code: 4, stderr: 'Error: There is no user "bob".\n' })
      }
    })

    it("what the service lists", async () => {
      const [organizations, audit, notifications, groups, tasks] = await Promise.all([
        succeed("organizations", "list"),
        succeed("audit", "-o", "json", "--limit", "5"),
        succeed("notifications", "list", "-o", "json"),
        succeed("groups", "list", "-o", "json"),
        succeed("tasks", "list", "-o", "json")
      ])
      expect(organizations).toMatch(/default/)
      expect(JSON.parse(audit)).toHaveLength(5)
      expect(JSON.parse(notifications)).toBeInstanceOf(Array)
      expect(JSON.parse(tasks)).toStrictEqual([])
      expect(JSON.parse(groups)).toContainEqual(expect.objectContaining({ name: "Everyone" }))
      await succeed("notifications", "read")
      await succeed("groups", "create", "a-group-with-a-long-name-of-many-words")
      await succeed("groups", "members", "a-group-with-a-long-name-of-many-words", "ada")
      // A member stays one
      await succeed("groups", "members", "a-group-with-a-long-name-of-many-words", "ada", "ada")
      expect(await succeed("groups", "list")).toMatch(/a-group-with-a-long-name-of-many-words +.*1/)
      await succeed("groups", "members", "a-group-with-a-long-name-of-many-words", "ada", "--remove")
      const lists = [
        ["groups", "list"],
        ["users", "list"],
        ["templates", "list"],
        ["tokens", "list"],
        ["audit"],
        ["list"],
        ["context", "list"]
      ]
      for (const text of await Promise.all(lists.map((words) => succeed(...words)))) {
        for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(80)
      }
    })

    it("the settings of a workspace", async () => {
      expect(await succeed("schedule", "box", "--start", "CRON_TZ=UTC 0 9 * * 1-5", "--stop-after", "8h")).toMatch(
        /Starts +CRON_TZ=UTC[^]*8h after a start/
      )
      expect(await service.run(["schedule", "box", "--stop-after", "7h"])).toMatchObject({
        code: 0,
        stderr: "--stop-after counts from the next start on. box runs now: --extend sets its next stop.\n"
      })
      expect(await succeed("schedule", "box", "--start", "none", "--stop-after", "none")).toMatch(/Starts +by hand\nStops +by hand/)
      await succeed("favorite", "box")
      await succeed("favorite", "box", "--remove")
      expect((await service.run(["autoupdate", "box", "sometimes"])).code).toBe(2)
      await succeed("autoupdate", "box", "always")
      expect((await service.run(["share", "box"])).stderr).not.toContain("    at ")
      expect(await succeed("open", "box", "--print")).toBe(`${service.url}/@ada/box.main/terminal\n`)
      expect(await succeed("open", "box", "--in", "code", "--print")).toMatch(
        /^vscode:\/\/vscode-remote\/ssh-remote\+main\.box\.ada\.atelier\//
      )
      expect(await succeed("open", "box", "--in", "zed", "--print")).toMatch(/^zed:\/\/ssh\/main\.box\.ada\.atelier\/./)
      expect(await succeed("open", "box", "--in", "jetbrains", "--print")).toMatch(
        /^jetbrains-gateway:\/\/connect#type=ssh&host=main\.box\.ada\.atelier&port=22&user=ada&projectPath=%2F/
      )
      expect((await succeed("complete", "templates")).split("\n")).toContain("shell")
      expect((await succeed("ping", "box", "-c", "1", "-o", "jsonl")).trim()).toMatch(/^\{"number":1,"milliseconds":[\d.]+\}$/)
      expect(await succeed("top", "box", "--once")).toMatch(/Disk usage/)
      expect((await succeed("complete", "workspaces")).split("\n")).toContain("box")
      expect(await succeed("completion", "fish")).toContain("complete -c atelier")
    })

    it("copies of folders", async () => {
      const folder = join(service.directory, "watched")
      await mkdir(join(folder, "left-out"), { recursive: true })
      await writeFile(join(folder, "one"), "1")
      await writeFile(join(folder, "left-out/x"), "x")
      expect(await service.run(["sync", folder, "box:once", "--once"])).toMatchObject({
        code: 0,
        stderr: expect.stringContaining("Copied 2 files.")
      })
      const child = service.start(["sync", folder, "box:synced", "-x", "left-out", "--remove"])
      const done = ended(child)
      await once(createInterface({ input: child.stderr ?? process.stdin }), "line")
      await writeFile(join(folder, "two"), "2")
      const lines = createInterface({ input: child.stdout ?? process.stdin })
      expect(await once(lines, "line")).toStrictEqual(["two"])
      const removed = once(lines, "line")
      await rm(join(folder, "one"))
      expect(await removed).toStrictEqual(["one"])
      child.kill("SIGINT")
      expect((await done).code).toBe(130)
      expect((await service.run(["exec", "box", "-n", "ls", "synced"])).stdout).toBe("two\n")
    })

    it("a service of another version, with one warning", async () => {
      const other = createServer(async (request, response) => {
        const headers = { "Service-Session-Token": String(request.headers["service-session-token"]) }
        const answer = await fetch(`${service.url}${request.url}`, { headers })
        response.writeHead(answer.status, { "x-service-build-version": "v0.9.0" }).end(await answer.text())
      }).listen(0, "127.0.0.1")
      await once(other, "listening")
      const address = other.address()
      const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
      const env = { XDG_CONFIG_HOME: "/none", ATELIER_URL: url, ATELIER_TOKEN: await tokenOf(service) }
      const { code, stderr } = await service.run(["templates", "versions", "shell"], { env })
      other.close()
      expect({ code, stderr }).toStrictEqual({
        code: 0,
        stderr: expect.stringMatching(/^Warning: this program has version [^\n]+v0\.9\.0: [^\n]+\n$/)
      })
    })

    it("the server, where its package is installed", async () => {
      const started = await service.runProgram(["server", "--version"])
      expect(started.code === 0 ? started.stdout : started.stderr).toMatch(/Atelier|is not installed here/)
    })
  })

  it("says what is missing", async () => {
    const missing = async (...args: ReadonlyArray<string>) => {
      const { code, stderr } = await service.run(args)
      return { code, stderr }
    }
    expect(await missing("logs", "box", "--build", "99")).toStrictEqual({
      code: 4,
      stderr: expect.stringMatching(/^Error: The workspace "box" has no build 99\.\nTo do: the latest is \d+\.\n$/)
    })
    expect(await missing("create")).toStrictEqual({
      code: 2,
      stderr: 'Error: create: NAME is missing.\nTo do: "atelier create --help" has the usage.\n'
    })
    expect(await missing("login", service.url, "--email", "ada@example.com")).toStrictEqual({
      code: 2,
      stderr: "Error: There is no terminal to ask for the password on.\nTo do: give it with --password-stdin.\n"
    })
    expect(await missing("share", "box", "--user", "nobody")).toStrictEqual({ code: 4, stderr: 'Error: There is no user "nobody".\n' })
  })

  it.each([
    [["tasks", "logs", "chore"], 'You have no task "chore".', "tasks list"],
    [["groups", "members", "crew", "ada"], 'There is no group "crew" in the organization "default".', "groups list"],
    [["groups", "list", "--organization", "acme"], 'There is no organization "acme".', "organizations list"],
    [["groups", "create", "crew", "--organization", "acme"], 'There is no organization "acme".', "organizations list"],
    [["templates", "edit", "shell", "--activate", "x"], 'The template "shell" has no version "x".', "templates versions shell"],
    [["create", "y", "-t", "shell", "--template-version", "x"], 'The template "shell" has no version "x".', "templates versions shell"]
  ])("names what %j does not find", async (words, message, lists) => {
    expect(await service.run(words)).toStrictEqual({
      code: 4,
      stdout: "",
      stderr: `Error: ${message}\nTo do: "atelier ${lists}" lists them.\n`
    })
  })

  it("tells each reason of a failure once, on a line of its own", async () => {
    const folder = join(service.directory, "wrong")
    await mkdir(folder)
    await writeFile(join(folder, "template.yaml"), "one: 1\ntwo: 2\n")
    const [scope, push] = await Promise.all([
      service.run(["tokens", "create", "--scope", "none"]),
      service.run(["templates", "push", "-qd", folder])
    ])
    expect(scope.stderr).toBe('Error: Invalid scope.\n  scopes: "none" is not a scope that a token can be made with\n')
    expect(push.stderr).toMatch(/^Error: The import has failed: template\.yaml:1:1: .*\n {2}template\.yaml:2:1: .*\n$/)
  })

  it("says what failed, why, and what to do", async () => {
    const [word, template, name, help, quiet] = await Promise.all([
      service.runProgram(["lisst"]),
      service.run(["create", "x", "-t", "missing"]),
      service.run(["create", "No Name", "-t", "shell"]),
      service.runProgram(["create", "--help"]),
      service.run(["list", "--debug"])
    ])
    expect(word).toStrictEqual({
      code: 2,
      stdout: "",
      stderr: 'Error: "lisst" is not a command.\nTo do: did you mean "list"? "atelier help" lists the commands.\n'
    })
    expect(template).toMatchObject({ code: 4, stderr: expect.stringContaining('There is no template "missing".\nTo do: ') })
    expect(name).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Error: .*\n {2}name: /) })
    expect(help).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("Usage: atelier create [NAME] [options]") })
    expect(quiet.stderr).toMatch(/GET http:\S+\?… 200 \d+ ms/)
    for (const { stderr } of [word, template, name]) expect(stderr).not.toContain("    at ")
    expect((await service.run(["version", "-o", "json"])).stdout).toContain('"service": "v')
  })

  // Behind all others
  it("has no command and no option without a test", () => {
    const words = service.given.map((args) => args.slice(0, args.includes("--") ? args.indexOf("--") : undefined))
    expect(untested(words)).toStrictEqual([])
  })
})
