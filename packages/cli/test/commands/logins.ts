/** Logins through the browser and by a code, whose tokens the program renews, and the places where tokens are kept. */
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises"
import { delimiter, join } from "node:path"
import { createInterface } from "node:readline"
import { expect, it } from "vitest"
import { ended, password, type Service } from "../service.js"

/** A line of what a running command says that has a pattern. */
const lineWith = (child: ReturnType<Service["start"]>, pattern: RegExp): Promise<RegExpExecArray> =>
  new Promise((resolve, reject) => {
    const lines = createInterface({ input: child.stderr ?? process.stdin })
    lines.on("line", (line) => {
      const found = pattern.exec(line)
      if (found !== null) resolve(found)
    })
    lines.once("close", () => reject(new Error(`nothing said ${pattern}`)))
  })

/** The file of the only context below a folder. */
const contextFile = async (config: string): Promise<string> => {
  const folder = join(config, "atelier/contexts")
  const [name = ""] = (await readdir(folder)).filter((each) => each.endsWith(".json"))
  return join(folder, name)
}

const contextIn = async (config: string) => JSON.parse(await readFile(await contextFile(config), "utf8"))

const change = async (config: string, edit: (context: ReturnType<typeof JSON.parse>) => void): Promise<void> => {
  const context = await contextIn(config)
  edit(context)
  await writeFile(await contextFile(config), JSON.stringify(context))
}

/** Logs in through the browser, as a user who consents. Returns the folder with the login. */
const byBrowser = async (service: Service, session: string, name: string, forge = false): Promise<string> => {
  const config = join(service.directory, name)
  const args = ["login", service.url, "--browser", "--no-open", "--scope", "api_key:create"]
  const child = service.start(args, { env: { XDG_CONFIG_HOME: config } })
  const done = ended(child)
  const [address] = await lineWith(child, /http\S+\/oauth2\/authorize\?\S+/)
  expect(new URL(address).searchParams.get("code_challenge_method")).toBe("S256")
  const consent = await fetch(address, { method: "POST", redirect: "manual", headers: { "Service-Session-Token": session } })
  const back = new URL(consent.headers.get("location") ?? "")
  if (forge) {
    const forged = new URL(back)
    forged.searchParams.set("state", "forged")
    expect((await fetch(forged)).status).toBe(400)
  }
  expect(await (await fetch(back)).text()).toContain("You are logged in.")
  expect(await done).toMatchObject({ code: 0 })
  return config
}

/** A store of secrets in files, in the place of the system's: the program itself is what stands outside of ours. */
const storeProgram = `#!/bin/sh
folder=$(dirname "$0")/secrets
case "$1" in
  store) mkdir -p "$folder" && cat > "$folder/$6" ;;
  lookup) cat "$folder/$5" ;;
  clear) rm "$folder/$5" ;;
esac
`

export const loginTests = (get: () => Service, tokenOf: () => Promise<string>): void => {
  it("by browser and by a code, and out again", async () => {
    const service = get()
    const session = await tokenOf()
    const device = { XDG_CONFIG_HOME: join(service.directory, "device") }
    const waiting = service.start(["login", service.url, "--device"], { env: device })
    const devised = ended(waiting)
    const [, code = ""] = await lineWith(waiting, /enter the code ([A-Z-]+):/)

    const config = await byBrowser(service, session, "browser", true)
    const env = { XDG_CONFIG_HOME: config }
    expect((await service.run(["whoami"], { env })).stdout).toContain("ada@example.com")
    expect(await service.run(["logout"], { env })).toMatchObject({ code: 0, stderr: expect.not.stringContaining("Warning") })
    expect((await service.run(["whoami"], { env })).code).toBe(3)

    const page = `${service.url}/oauth2/device`
    const cookie = `service_session_token=${session}`
    const shown = await fetch(page, { headers: { cookie, accept: "text/html" } })
    const [, csrf = ""] = /name="csrf_token" value="([^"]*)"/.exec(await shown.text()) ?? []
    const cookies = [cookie, ...shown.headers.getSetCookie().map((each) => each.split(";")[0])].join("; ")
    const allowed = await fetch(page, {
      method: "POST",
      headers: { cookie: cookies, accept: "text/html" },
      body: new URLSearchParams({ user_code: code, decision: "allow", csrf_token: csrf })
    })
    expect(await allowed.text()).toContain("The device is connected")
    expect(await devised).toMatchObject({ code: 0, stderr: expect.stringContaining("as ada.") })
    expect((await service.run(["whoami"], { env: device })).stdout).toContain("ada@example.com")
  })

  it("once: its tokens are renewed, also by two processes at once", async () => {
    const service = get()
    const config = await byBrowser(service, await tokenOf(), "renewed")
    const whoami = () => service.runProgram(["whoami"], { env: { XDG_CONFIG_HOME: config } })
    const first = await contextIn(config)
    await change(config, ({ grant }) => (grant.expiresAt = 0))
    // The lock of a process that was killed holds no other up
    await writeFile((await contextFile(config)).replace(/([^/]+)\.json$/, ".$1.lock.99999999.0123456789abcdef"), "")
    for (const { code, stderr } of await Promise.all([whoami(), whoami(), whoami()]))
      expect({ code, stderr }).toStrictEqual({ code: 0, stderr: "" })
    const second = await contextIn(config)
    expect(second.grant.refreshToken).not.toBe(first.grant.refreshToken)
    expect(second.grant.expiresAt).toBeGreaterThan(Date.now())
    expect(await readdir(join(config, "atelier/contexts"))).toHaveLength(1)

    await change(config, (context) => (context.token = "ended"))
    expect((await whoami()).code).toBe(0)
    expect((await contextIn(config)).token).not.toBe("ended")
    await change(config, (context) => Object.assign(context, { token: "ended", grant: { ...context.grant, refreshToken: "ended" } }))
    expect(await whoami()).toMatchObject({ code: 3, stderr: expect.stringMatching(/has ended\.\nTo do: log in again/) })
  })

  it("and keeps the token in the system's key store where there is one", async (test) => {
    if (process.platform !== "linux") return test.skip("the stand-in is that of Linux")
    const service = get()
    const bin = join(service.directory, "store")
    await mkdir(bin)
    await writeFile(join(bin, "secret-tool"), storeProgram)
    await chmod(join(bin, "secret-tool"), 0o755)
    const config = join(service.directory, "stored")
    const env = { XDG_CONFIG_HOME: config, PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}` }
    const login = ["login", service.url, "-e", "ada@example.com", "--password-stdin", "--name", "kept"]
    expect((await service.run(login, { env, stdin: password })).code).toBe(0)
    const context = await contextIn(config)
    expect(Object.keys(context).toSorted()).toStrictEqual(["brand", "keyStore", "url", "username"])
    expect((await service.run(["whoami"], { env })).stdout).toContain("ada@example.com")
    expect((await service.run(["context", "list"], { env })).stdout).toContain("kept")
    // Without the store, the program says so
    const without = await service.run(["whoami"], { env: { XDG_CONFIG_HOME: config, PATH: "/none" } })
    expect(without).toMatchObject({ code: 3, stderr: expect.stringMatching(/key store does not give.*\nTo do: unlock it/) })
    expect((await service.run(login, { env, stdin: password })).code).toBe(0)
    expect(await readdir(join(bin, "secrets"))).toHaveLength(1)
    expect((await service.run(["logout"], { env })).code).toBe(0)
    expect(await readdir(join(bin, "secrets"))).toStrictEqual([])

    expect((await service.run([...login, "--no-key-store"], { env, stdin: password })).code).toBe(0)
    expect(await contextIn(config)).toHaveProperty("token")
  })
}
