/** The options of commands that change the result, its place, and how long a command waits. */
import * as logins from "@atelier/client/logins"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { afterAll, beforeAll, expect, it } from "vitest"
import { losing } from "../breakable.js"
import { ended, password, type Service } from "../service.js"

const ada = { email: "ada@example.com", password }

const template = `variables:
  - { name: greeting, default: hello }
parameters:
  - { name: word, default: none, mutable: true }
  - { name: size, type: number, default: 1, mutable: true }
  - { name: detail, default: none, mutable: true, when: parameter.word == "filed" }
presets:
  - name: Large
    parameters: { size: 3 }
agents:
  - name: main
    env:
      SAID: \${variable.greeting} \${parameter.word} \${parameter.size}
`

export const optionTests = (get: () => Service, succeed: (...args: ReadonlyArray<string>) => Promise<string>): void => {
  const said = (workspace: string): Promise<string> => succeed("exec", workspace, "-n", "--", "sh", "-c", "echo $SAID")

  beforeAll(async () => {
    await get().ada.sandboxes.create({ template: "shell", name: "spot" })
  })
  afterAll(() => succeed("delete", "spot", "--yes", "-q"))

  it("takes a workspace from a template's version with values, by options alone", async () => {
    const service = get()
    const folder = join(service.directory, "options")
    const file = join(service.directory, "values.json")
    await mkdir(folder)
    await writeFile(join(folder, "template.yaml"), template)
    await writeFile(file, JSON.stringify({ word: "filed" }))
    const push = ["templates", "push", "-d", folder, "-q", "--variable", "greeting=bye"]
    await succeed(...push, "default/options", "--name", "one", "--tag", "scope=organization")
    await succeed(...push, "options", "--name", "two", "--organization", "default", "--inactive")
    const versions = await succeed("templates", "versions", "options")
    expect(versions).toMatch(/\none +\* +succeeded/)
    expect(versions).toMatch(/\ntwo +succeeded/)
    await succeed("templates", "pull", "options", join(service.directory, "two"), "--template-version", "two")
    expect(await readFile(join(service.directory, "two/template.yaml"), "utf8")).toBe(template)
    expect(JSON.parse(await succeed("templates", "edit", "options", "--icon", "/icon/git.svg", "-o", "json"))).toMatchObject({
      icon: "/icon/git.svg"
    })

    const version = ["--template", "options", "--template-version", "two", "--preset", "Large"]
    const times = ["--stop-after", "2h", "--delete-after", "3h", "--schedule", "CRON_TZ=UTC 0 9 * * 1-5"]
    const made = await succeed(
      "create",
      "made",
      ...version,
      ...times,
      "-p",
      "word=given",
      "--parameter-file",
      file,
      "--detach",
      "-o",
      "json"
    )
    expect(JSON.parse(made)).toMatchObject({
      name: "made",
      ttl_ms: 7_200_000,
      autostart_schedule: "CRON_TZ=UTC 0 9 * * 1-5",
      latest_build: { status: expect.any(String) }
    })
    expect(JSON.parse(await succeed("show", "made", "-o", "json"))).toMatchObject({ latest_build: { template_version_name: "two" } })
    // A misspelled name would leave the value out without a word
    const misspelled = { code: 2, stderr: 'Error: With these values the template has no parameter "wrod".\nTo do: it has size, word.\n' }
    for (const command of [
      ["create", "other", ...version],
      ["start", "made"],
      ["restart", "made"],
      ["update", "made"]
    ]) {
      expect(await service.run([...command, "-p", "wrod=x"])).toMatchObject(misspelled)
    }
    expect(await service.run(["sandbox", "run", "options", "-p", "wrod=x", "-n", "--", "true"])).toMatchObject(misspelled)
    await succeed("start", "made", "-q")
    expect(await said("made")).toBe("bye given 3\n")
    expect(await service.run(["start", "made", "-p", "word=late"])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('Warning: the given values are not used: "atelier restart ada/made" takes them.\n')
    })
    expect(await succeed("schedule", "made", "--extend", "5h")).toMatch(/Next stop +in 5 hours/)

    expect(await service.run(["stop", "made", "--detach"])).toMatchObject({ code: 0, stderr: expect.stringContaining("is stopping") })
    const started = await service.run(["start", "made", "-p", "word=again", "--parameter-file", file, "--detach"])
    expect(started).toMatchObject({ code: 0, stderr: expect.stringContaining("Starting ada/made.") })
    await succeed("start", "made", "-q")
    expect(await said("made")).toBe("bye again 3\n")
    await succeed("restart", "made", "-p", "size=4", "-p", "detail=some", "--parameter-file", file, "-q")
    expect(await said("made")).toBe("bye filed 4\n")
    const updated = await service.run(["update", "made", "-p", "size=5", "--parameter-file", file, "--detach"])
    expect(updated).toMatchObject({ code: 0, stderr: expect.stringContaining("Updating ada/made.") })
    await succeed("start", "made", "-q")
    expect(await said("made")).toBe("bye filed 5\n")

    expect(await succeed("logs", "made", "--build", "1", "--only", "build")).toMatch(/==> Starting workspace/)
    expect(await succeed("logs", "made", "--only", "agent")).not.toContain("==> Starting workspace")
    const following = service.start(["logs", "made", "--follow"])
    const over = ended(following)
    await once(createInterface({ input: following.stdout ?? process.stdin }), "line")
    following.kill("SIGINT")
    expect((await over).code).toBe(130)

    expect(await service.run(["restart", "made", "--detach"])).toMatchObject({ code: 0, stderr: expect.stringContaining("Restarting") })
    const build = async (): Promise<unknown> => JSON.parse(await succeed("show", "made", "-o", "json")).latest_build
    await expect.poll(build).toMatchObject({ transition: "start", status: "running" })
    await succeed("stop", "made", "-q")
    const deleted = await service.run(["delete", "made", "--orphan", "--detach", "--yes"])
    expect(deleted).toMatchObject({ code: 0, stderr: expect.stringContaining("is being deleted") })
    await expect.poll(async () => (await service.run(["show", "made"])).code).toBe(4)
  })

  it.each(["before", "after"] as const)("creates one workspace though the connection is lost %s the service creates it", async (when) => {
    const service = get()
    const way = await losing(service.url, when)
    const env = { ATELIER_URL: way.url, ATELIER_TOKEN: (await logins.logIn(service.ada, { body: ada })).session_token }
    try {
      const create = await service.run(["create", `lost-${when}`, "-t", "shell", "--detach", "-o", "json"], { env })
      expect(create).toMatchObject({ code: 0, stderr: expect.stringContaining("The service did not answer. Waiting until it does.\n") })
      expect(JSON.parse(create.stdout)).toMatchObject({ name: `lost-${when}`, latest_build: { build_number: 1 } })
      const other = await service.run(["create", `lost-${when}`, "-t", "shell", "--detach"], { env })
      expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining(`There is a workspace "ada/lost-${when}" already.`) })
    } finally {
      way.close()
    }
    await succeed("delete", `lost-${when}`, "--yes", "-q")
  })

  it("names the flag of a value that the service refuses", async () => {
    const service = get()
    for (const [flag, ...command] of [
      ["--stop-after", "create", "short", "-t", "shell", "--stop-after", "10s"],
      ["--schedule", "create", "short", "-t", "shell", "--schedule", "often"],
      ["--stop-after", "schedule", "spot", "--stop-after", "10s"],
      ["--start", "schedule", "spot", "--start", "often"],
      ["--rename", "templates", "edit", "shell", "--rename", "-"]
    ]) {
      const { code, stderr } = await service.run(command)
      expect([code, stderr]).toStrictEqual([1, expect.stringMatching(new RegExp(`\\n *${flag}: `))])
    }
  })

  it("tells of a startup script that has failed", async () => {
    const service = get()
    const folder = join(service.directory, "failing")
    await mkdir(folder)
    const agent = "name: main, startup_script: exit 3, startup_script_behavior: blocking"
    await writeFile(join(folder, "template.yaml"), `agents: [{ ${agent} }]\n`)
    await succeed("templates", "push", "-d", folder, "-q")
    const warning =
      'Warning: the startup script of the agent main has failed. "atelier logs ada/failed.main --only agent" shows its output.\n'
    for (const command of [
      ["create", "failed", "-t", "failing"],
      ["restart", "failed"]
    ]) {
      expect(await service.run(command)).toMatchObject({ code: 0, stderr: expect.stringContaining(warning) })
    }
    await succeed("logs", "ada/failed.main", "--only", "agent")
    await succeed("delete", "failed", "--yes", "-q")
  })

  it("keeps the workspace of a sandbox, with its values", async () => {
    const service = get()
    const file = join(service.directory, "sandbox.json")
    await writeFile(file, JSON.stringify({ word: "filed" }))
    const options = ["-p", "size=7", "--parameter-file", file, "-e", "NAME=here", "-C", "/", "--delete-after", "10m", "--keep", "-t", "-n"]
    const run = await service.run(["sandbox", "run", "options", ...options, "--", "sh", "-c", "echo $SAID $NAME; pwd; test -t 1"])
    expect(run).toMatchObject({ code: 0, stdout: "bye filed 7 here\r\n/\r\n" })
    const [, name = ""] = /The sandbox is (\S+)\./.exec(run.stderr) ?? []
    await succeed("delete", name, "--yes", "-q")
  })

  it("says before it sends anything what is wrong with a value", async () => {
    const service = get()
    const refused = await Promise.all(
      [
        ["schedule", "spot", "--stop-after", "soon"],
        ["create", "x", "-t", "shell", "-p", "word"],
        ["create", "x", "-t", "shell", "--parameter-file", "/none"],
        ["exec", "spot", "-e", "NAME", "true"],
        ["templates", "push", "-d", join(service.directory, "options"), "--tag", "zone"]
      ].map((words) => service.run(words))
    )
    expect(refused.map(({ code, stderr }) => [code, stderr.split("\n")[0]])).toStrictEqual([
      [2, "Error: --stop-after: must be a duration such as 90s, 30m, 1h30m or 7d."],
      [2, 'Error: --parameter: "word" must be NAME=VALUE.'],
      [2, "Error: --parameter-file: /none: does not exist."],
      [2, 'Error: --env: "NAME" must be NAME=VALUE.'],
      [2, 'Error: --tag: "zone" must be NAME=VALUE.']
    ])
  })

  it("gives commands a terminal or none", async () => {
    const service = get()
    const test = "test -t 1 && echo terminal || echo none"
    const [shell, plain, command, piped, placed] = await Promise.all([
      service.run(["ssh", "spot", "--tty", "-n", "--", test]),
      service.run(["ssh", "spot", "--no-tty", "-n", "--", test]),
      service.run(["exec", "spot", "--tty", "-n", "--", "sh", "-c", test]),
      service.run(["exec", "spot", "--no-tty", "-n", "--", "sh", "-c", test]),
      service.run(["ssh", "spot", "-n", "-e", "WORD=here", "-C", "/", "--", "echo $WORD; pwd"])
    ])
    expect([shell, plain, command, piped, placed].map(({ stdout }) => stdout)).toStrictEqual([
      "terminal\r\n",
      "none\n",
      "terminal\r\n",
      "none\n",
      "here\n/\n"
    ])
  })

  it("leads OpenSSH through a configuration and a suffix of one's own", async () => {
    const service = get()
    const config = join(service.directory, "ssh-config")
    await succeed("config-ssh", "--suffix", "dev", "--ssh-config", config, "-q")
    expect(await readFile(config, "utf8")).toMatch(/^Include "[^\n]+"\n$/)
    const words = ["ssh", "--stdio", "--suffix", "dev", "--client", "vscode", "main.spot.ada.dev"]
    const proxy = service.start(words)
    const [first] = await once(proxy.stdout ?? process.stdin, "data")
    expect(String(first)).toMatch(/^SSH-2\.0-/)
    // Its input ends, and the connection with it
    expect(await ended(proxy)).toMatchObject({ code: 0, stderr: "" })
    await succeed("config-ssh", "--remove", "--suffix", "dev", "--ssh-config", config, "-q")
    expect(await readFile(config, "utf8")).toBe("")
  })

  it("shares with users, and chooses organizations and scopes", async () => {
    const service = get()
    const eve = ["users", "create", "eve", "-e", "eve@example.com", "--name", "Eve Adams", "--organization", "default", "--password-stdin"]
    expect((await service.run(eve, { stdin: password })).code).toBe(0)
    expect(await succeed("users", "show", "eve")).toContain("Eve Adams")
    expect(await succeed("share", "spot", "--user", "eve", "--role", "admin")).toMatch(/eve +user +admin/)
    expect(await succeed("share", "spot", "--user", "eve", "--role", "none")).not.toContain("eve")
    await succeed("users", "delete", "eve", "--yes")

    await succeed("groups", "create", "owls", "--organization", "default")
    await succeed("groups", "members", "owls", "ada", "--organization", "default")
    expect(await succeed("groups", "list", "--organization", "default")).toMatch(/owls +default +1/)
    const token = (
      await succeed(
        "tokens",
        "create",
        "--name",
        "reader",
        ...["workspace:read", "template:read", "user:read"].flatMap((scope) => ["--scope", scope])
      )
    ).trim()
    const env = { XDG_CONFIG_HOME: "/none", ATELIER_URL: service.url, ATELIER_TOKEN: token }
    expect(await service.run(["list", "--all"], { env })).toMatchObject({ code: 0, stdout: expect.stringContaining("spot") })
    expect((await service.run(["favorite", "ada/spot"], { env })).code).toBe(5)
    expect(await succeed("tokens", "list", "--all", "-o", "jsonl")).toContain('"username":"ada"')
    await succeed("tokens", "delete", "reader")
    const audit = JSON.parse(await succeed("audit", "--search", "resource_type:group", "-o", "json"))
    expect(new Set(audit.map(({ resource_type }: { readonly resource_type: string }) => resource_type))).toStrictEqual(new Set(["group"]))
    expect(JSON.parse(await succeed("tasks", "list", "--search", "status:active", "-o", "json"))).toStrictEqual([])
    expect(JSON.parse(await succeed("notifications", "list", "--unread", "-o", "json"))).toBeInstanceOf(Array)

    const [{ name }] = JSON.parse(await succeed("context", "list", "-o", "json"))
    expect(await succeed("whoami", "--context", name)).toContain("ada@example.com")
    expect(await service.run(["whoami", "--context", "none"])).toMatchObject({ code: 3 })
  })
}
