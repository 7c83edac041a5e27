/** The command line on a terminal: what it asks, what keys do, and what a lost connection does to a shell. */
import { spawn } from "@lydell/node-pty"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { breakable } from "../breakable.js"
import { password, program, type Service } from "../service.js"

/** Milliseconds until a terminal has to show what is waited for. */
const patience = 60_000

/** A program on a terminal of its own. */
const onTerminal = (
  { directory, environment }: Service,
  [file, ...args]: readonly [string, ...ReadonlyArray<string>],
  env: Readonly<Record<string, string>> = {}
) => {
  const pty = spawn(file, [...args], {
    cols: 80,
    rows: 24,
    cwd: directory,
    env: { ...environment, TERM: "xterm", NO_COLOR: "1", ...env }
  })
  let shown = ""
  let look = (): void => undefined
  pty.onData((text) => {
    shown += text
    look()
  })
  const ended = new Promise<number>((resolve) => pty.onExit(({ exitCode }) => resolve(exitCode)))
  return {
    ended,
    type: (keys: string) => pty.write(keys),
    resize: (cols: number, rows: number) => pty.resize(cols, rows),
    /** Waits until the terminal shows a pattern behind what was waited for before, and returns what is between. */
    until: (pattern: RegExp): Promise<string> =>
      new Promise((resolve, reject) => {
        look = () => {
          const found = pattern.exec(shown)
          if (found === null) return
          const end = found.index + found[0].length
          const passed = shown.slice(0, end)
          shown = shown.slice(end)
          look = () => undefined
          resolve(passed)
        }
        const fail = (): void => {
          look()
          reject(new Error(`the terminal has not shown ${pattern}: ${JSON.stringify(shown)}`))
        }
        setTimeout(fail, patience).unref()
        void ended.then(fail)
        look()
      })
  }
}

const template = `parameters:
  - name: word
    display_name: The word
    order: 1
  - name: color
    display_name: Colour
    default: red
    order: 2
    options:
      - { name: Red, value: red }
      - { name: Blue, value: blue }
`

/** A line of the shell that waits until its terminal has a size, which is sent beside what is typed. */
const untilSize = (size: string): string => `until [ "$(stty size)" = "${size}" ]; do sleep 0.1; done; echo "arr"ived\r`

export const terminalTests = (get: () => Service, tokenOf: () => Promise<string>): void => {
  const atelier = (args: ReadonlyArray<string>, env?: Readonly<Record<string, string>>) =>
    onTerminal(get(), [process.execPath, program, ...args], env)

  beforeAll(async () => {
    await get().ada.sandboxes.create({ template: "shell", name: "desk" })
  })
  afterAll(() => get().run(["delete", "desk", "--yes", "-q"]))

  it("asks for a password without showing it, and ends with Ctrl-C", async () => {
    const service = get()
    const env = { XDG_CONFIG_HOME: join(service.directory, "typed") }
    const words = ["login", service.url, "--email", "ada@example.com"]
    const login = atelier(words, env)
    await login.until(/Password: /)
    // A wrong key and the one that removes it
    login.type(`${password}x\u007f\r`)
    expect(await login.until(/Logged in to \S+ as ada/)).not.toContain(password)
    expect(await login.ended).toBe(0)

    const left = atelier(words, env)
    await left.until(/Password: /)
    left.type("\u0003")
    expect(await left.ended).toBe(130)
  })

  it("asks for the values of a template, and again for one that is no choice", async () => {
    const service = get()
    const folder = join(service.directory, "asking")
    await service.write(join(folder, "template.yaml"), template)
    expect((await service.run(["templates", "push", "asking", "-d", folder])).code).toBe(0)
    const create = atelier(["create", "-t", "asking"])
    await create.until(/Name of the workspace: /)
    create.type("asked\r")
    await create.until(/The word: /)
    create.type("hello\r")
    await create.until(/Colour\r+\n {2}1\. Red\r+\n {2}2\. Blue[^]*Number or name \[1\]: /)
    create.type("green\r")
    await create.until(/"green" is none of them\.[^]*Number or name \[1\]: /)
    create.type("2\r")
    await create.until(/ada\/asked is running\./)
    expect(await create.ended).toBe(0)
    const second = atelier(["create", "-t", "asking"])
    await second.until(/Name of the workspace: /)
    second.type("asked\r")
    // Before it asks for the values
    await second.until(/asked\r+\nError: There is a workspace "ada\/asked" already\./)
    expect(await second.ended).toBe(1)
    const task = atelier(["tasks", "create", "to do"])
    await task.until(/Template\r+\n[^]* asking\r+\n[^]*Number or name: /)
    task.type("\u0003")
    expect(await task.ended).toBe(130)
    const remove = atelier(["delete", "asked"])
    await remove.until(/Delete ada\/asked with all files\? \(y\/N\): /)
    remove.type("\r")
    await remove.until(/Nothing was deleted\./)
    expect(await remove.ended).toBe(1)
    expect((await service.run(["delete", "asked", "--yes", "-q"])).code).toBe(0)
  })

  it("gives a shell the terminal's size and keys, and leaves it with ~.", async () => {
    const shell = atelier(["ssh", "desk"])
    await shell.until(/desk:\S*\$ /)
    shell.type("sh -c 'stty size; exec sleep 1000'\r")
    await shell.until(/24 80\r+\n/)
    shell.type("\u0003")
    await shell.until(/desk:\S*\$ /)
    shell.resize(100, 30)
    shell.type(untilSize("30 100"))
    await shell.until(/arrived\r+\n/)
    shell.type("\r~?")
    await shell.until(/~\. {2}leaves the workspace/)
    shell.type("\r~.")
    await shell.until(/You have left the workspace\./)
    expect(await shell.ended).toBe(255)
  })

  it("stops at ~^Z, and goes on in the shell that has started it", async () => {
    const outer = onTerminal(get(), ["bash", "--norc", "--noprofile", "-i"], { PS1: "outer> " })
    await outer.until(/outer> /)
    outer.type(`${process.execPath} ${program} ssh desk\r`)
    await outer.until(/desk:\S*\$ /)
    outer.type("\r~\u001a")
    await outer.until(/Stopped[^]*outer> /)
    outer.type("fg\r")
    await outer.until(/ssh desk\r+\n/)
    outer.type('echo "al"ive\r')
    await outer.until(/alive\r+\n/)
    outer.type("exit\r")
    await outer.until(/outer> /)
    outer.type("exit\r")
    expect(await outer.ended).toBe(0)
  })

  it("keeps a shell through a lost connection, in the terminal's new size", async () => {
    const way = await breakable(get().url)
    const shell = atelier(["ssh", "desk"], { ATELIER_URL: way.url, ATELIER_TOKEN: await tokenOf() })
    await shell.until(/desk:\S*\$ /)
    shell.type("kept=here\r")
    await shell.until(/desk:\S*\$ /)
    way.breakAll()
    await shell.until(/the connection is lost, and is made again/)
    shell.resize(90, 33)
    shell.type(`\r${untilSize("33 90")}echo "$kept" again\r`)
    await shell.until(/arrived\r+\n[^]*here again\r+\n/)
    shell.type("exit\r")
    expect(await shell.ended).toBe(0)
    way.close()
  })
}
