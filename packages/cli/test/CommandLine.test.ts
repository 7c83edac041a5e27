/** The commands as processes, against a service with workspaces on this machine. */
import { once } from "node:events"
import { readdir, readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { ended, password, type Service, startService } from "./service.js"

/** A context's token. */
const tokenOf = async (service: Service): Promise<string> => {
  const { stdout } = await service.run(["context", "list", "-o", "json"])
  const [{ name }] = JSON.parse(stdout)
  return JSON.parse(await readFile(join(service.directory, "config/atelier/contexts", `${name}.json`), "utf8")).token
}

describe.each(["SQLite", "PostgreSQL"] as const)("the command line on %s", (database) => {
  let service: Service

  beforeAll(async () => {
    service = await startService(database)
    // Imports the template
    await using imported = await service.ada.sandboxes.create({ template: "shell" })
    expect(imported.name).toContain("sandbox-")
    const login = await service.run(["login", service.url, "--email", "ada@example.com", "--password-stdin"], { stdin: `${password}\n` })
    expect(login).toMatchObject({ code: 0, stdout: "", stderr: expect.stringContaining("as ada.") })
  }, 60_000)
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
      expect(wrongPassword).toMatchObject({ code: 3, stderr: expect.stringMatching(/^Error: .*\nTo do: /) })
      expect(nowhere).toMatchObject({ code: 6, stderr: expect.stringContaining("The service did not answer.") })
      expect(elsewhere).toMatchObject({ code: 3, stderr: expect.stringContaining("The login is for") })
      expect(nobody).toMatchObject({ code: 3, stderr: expect.stringContaining("You are not logged in.") })

      const contexts = await service.run(["context", "list"], { env: config })
      expect(contexts.stdout).toMatch(/^NAME +CURRENT +USER +ADDRESS\nmine +\* +ada +http/)
      expect((await service.run(["context", "use", "none"], { env: config })).code).toBe(4)
      expect((await service.run(["context", "use", "mine"], { env: config })).code).toBe(0)
      expect((await service.run(["context", "remove", "mine"], { env: config })).code).toBe(0)
      expect((await service.run(["list"], { env: config })).code).toBe(3)
    })

    it("by browser, with a scope in addition, and out again", async () => {
      const session = await tokenOf(service)
      const env = { XDG_CONFIG_HOME: join(service.directory, "browser") }
      // Stands for the terminal that the login by browser wants
      const child = service.start(["login", service.url, "--browser", "--no-open", "--scope", "api_key:create"], { env })
      const done = ended(child)
      const lines = createInterface({ input: child.stderr ?? process.stdin })
      const address = await new Promise<string>((resolve) =>
        lines.on("line", (line) => line.includes("/oauth2/authorize?") && resolve(line.trim()))
      )
      expect(new URL(address).searchParams.get("code_challenge_method")).toBe("S256")
      const consent = await fetch(address, { method: "POST", redirect: "manual", headers: { "Service-Session-Token": session } })
      const back = new URL(consent.headers.get("location") ?? "")
      const forged = new URL(back)
      forged.searchParams.set("state", "forged")
      expect((await fetch(forged)).status).toBe(400)
      expect(await (await fetch(back)).text()).toContain("You are logged in.")
      expect(await done).toMatchObject({ code: 0 })
      expect((await service.run(["whoami"], { env })).stdout).toContain("ada@example.com")
      expect(await service.run(["logout"], { env })).toMatchObject({ code: 0 })
      expect((await service.run(["whoami"], { env })).code).toBe(3)
    })

    it("and leaves the old or the new file when it is killed", async () => {
      const token = await tokenOf(service)
      const directory = join(service.directory, "killed")
      for (const delay of [60, 90, 120, 150]) {
        const child = service.start(["login", service.url, "--token-stdin"], { env: { XDG_CONFIG_HOME: directory } })
        child.stdin?.end(token)
        setTimeout(() => child.kill("SIGKILL"), delay)
        await once(child, "close")
        const { code, stdout } = await service.run(["context", "list", "-o", "json"], { env: { XDG_CONFIG_HOME: directory } })
        expect(code).toBe(0)
        for (const context of JSON.parse(stdout)) expect(context).toMatchObject({ username: "ada", url: service.url })
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
    expect(await succeed("logs", "first")).toMatch(/==> Setting up[^]*Ready\n/)
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
    expect(await service.run(["update", "first"])).toMatchObject({ code: 0, stderr: expect.stringContaining("active version already") })

    expect(await succeed("rename", "first", "second", "-o", "json")).toContain('"second"')
    expect((await service.run(["show", "first"])).code).toBe(4)
    expect(await service.run(["delete", "second"])).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") })
    expect(await service.run(["delete", "second", "--yes"])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("ada/second is deleted.")
    })
    expect(await succeed("list", "-o", "jsonl")).toBe("")
  }, 60_000)

  it("says what failed, why, and what to do", async () => {
    const [word, template, name, help, quiet] = await Promise.all([
      service.run(["lisst"]),
      service.run(["create", "x", "-t", "missing"]),
      service.run(["create", "No Name", "-t", "shell"]),
      service.run(["create", "--help"]),
      service.run(["list", "--debug"])
    ])
    expect(word).toStrictEqual({
      code: 2,
      stdout: "",
      stderr: 'Error: "lisst" is not a command.\nTo do: did you mean "list"? "atelier --help" lists the commands.\n'
    })
    expect(template).toMatchObject({ code: 4, stderr: expect.stringContaining('There is no template "missing".\nTo do: ') })
    expect(name).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Error: .*\n {2}name: /) })
    expect(help).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("Usage: atelier create [NAME] [options]") })
    expect(quiet.stderr).toMatch(/GET http:\S+\?… 200 \d+ ms/)
    for (const { stderr } of [word, template, name]) expect(stderr).not.toContain("    at ")
    expect((await service.run(["version", "-o", "json"])).stdout).toContain('"service": "v')
  })
})
