import { spawnSync } from "node:child_process"
import { mkdtempSync, writeFileSync } from "node:fs"
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Readable } from "node:stream"
import { type Header, pack } from "tar-stream"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { readAddress } from "../src/access/address.js"
import { command, duration, optional, readDuration, required, several, text, texts, toggle, whole } from "../src/command/Command.js"
import { completionOf, wordsByPath } from "../src/command/completion.js"
import { manual } from "../src/command/manual.js"
import { parse } from "../src/command/parse.js"
import { commands } from "../src/commands.js"
import { configDirectory, makeContexts } from "../src/contexts/Contexts.js"
import { alone } from "../src/contexts/fileLock.js"
import { type KeyStore, keyStoreOf } from "../src/contexts/KeyStore.js"
import { sizeOf } from "../src/terminal/size.js"
import { table } from "../src/terminal/table.js"
import { ago, bytesText, durationText, logLine, plain } from "../src/terminal/text.js"
import { escapeKeys } from "../src/connect/attached.js"
import { hostFile, withInclude } from "../src/connect/configSsh.js"
import { readForward } from "../src/connect/portForward.js"
import { readRequest } from "../src/connect/socksProxy.js"
import { workspaceOfHost } from "../src/connect/sshStream.js"
import { unpack } from "../src/files/tar.js"
import { readEnd } from "../src/files/copy.js"
import { editorLink } from "../src/workspaces/settings.js"
import { checkText } from "../src/templates/checkText.js"
import { differsMuch } from "../src/version.js"
import { placeOf } from "../src/workspaces/find.js"
import { parametersIn } from "../src/workspaces/parameters.js"

const done = async (): Promise<void> => {}
const entries = [
  command({
    name: "make",
    aliases: ["mk"],
    summary: "make a thing",
    args: { name: required("its name"), place: optional("where") },
    flags: {
      dryRun: toggle("only say", { short: "n" }),
      size: whole("NUMBER", "how large"),
      after: duration("when"),
      label: texts("LABEL", "a label", { short: "l" }),
      color: text("COLOR", "its colour", { variable: "COLOR" })
    },
    run: done
  }),
  command({ name: "outer", summary: "run another program", words: "WORD", run: done }),
  command({
    name: "run",
    summary: "run a command",
    args: { place: required("where") },
    words: "COMMAND",
    flags: { tty: toggle("a terminal", { short: "t" }) },
    run: done
  }),
  {
    name: "group",
    aliases: [],
    summary: "a group",
    commands: [command({ name: "remove", summary: "remove", args: { names: several("the names") }, run: done })]
  }
]
const globals = { quiet: toggle("less", { short: "q" }), output: text("FORMAT", "the format", { short: "o" }) }
const read = (line: string, env: NodeJS.ProcessEnv = {}) =>
  parse(
    line.split(" ").filter((word) => word !== ""),
    entries,
    globals,
    { env, program: "atelier" }
  )

describe("a command line", () => {
  it("has flags anywhere, in every form", () => {
    expect(read("make --size=3 box -l a -lb --after 1h30m -nqo json shelf")).toMatchObject({
      path: ["make"],
      input: { name: "box", place: "shelf", dryRun: true, size: 3, after: 5_400_000, label: ["a", "b"], color: undefined, words: [] },
      global: { quiet: true, output: "json" }
    })
    expect(read("mk box --color red", { COLOR: "blue" })).toMatchObject({ input: { color: "red", dryRun: false, label: [] } })
    expect(read("mk box", { COLOR: "blue" })).toMatchObject({ input: { color: "blue" } })
  })

  it("passes the words of another command on", () => {
    expect(read("run -t here ls -la --color")).toMatchObject({ input: { place: "here", tty: true, words: ["ls", "-la", "--color"] } })
    expect(read("run here -- -t")).toMatchObject({ input: { tty: false, words: ["-t"] } })
    expect(read("outer --version -q")).toMatchObject({ input: { words: ["--version", "-q"] }, global: { quiet: false } })
    expect(read("make -- -n")).toMatchObject({ input: { name: "-n", dryRun: false } })
  })

  it("has groups, and asks for help", () => {
    expect(read("group remove a b")).toMatchObject({ path: ["group", "remove"], input: { names: ["a", "b"] } })
    expect(read("group")).toMatchObject({ path: ["group"], isAsked: false })
    expect(read("group remove --help")).toMatchObject({ path: ["group", "remove"], isAsked: true })
    expect(read("help make")).toMatchObject({ path: ["make"], isAsked: true })
  })

  it.each([
    ["mak", '"mak" is not a command.', 'did you mean "make"? "atelier help" lists the commands.'],
    ["mkae", '"mkae" is not a command.', 'did you mean "make"? "atelier help" lists the commands.'],
    ["make box --dry", "--dry: is not an option here.", 'did you mean --dry-run? "atelier make --help" lists the options.'],
    ["make box --sise 3", "--sise: is not an option here.", 'did you mean --size? "atelier make --help" lists the options.'],
    ["make", "make: NAME is missing.", '"atelier make --help" has the usage.'],
    ["make a b c", '"c": is one word too many for "make".', undefined],
    ["make a --size", "--size: needs a value, NUMBER.", undefined],
    ["make a --size=-1", "--size: must be a number that is not negative.", undefined],
    ["make a --after soon", "--after: must be a duration such as 90s, 30m, 1h30m or 7d.", undefined],
    ["group remove", "group remove: NAMES is missing.", '"atelier group remove --help" has the usage.']
  ])("%s is refused", (line, message, hint) => {
    expect(() => read(line)).toThrow(expect.objectContaining({ message, hint, code: 2 }))
  })
})

it.each([
  [
    { columns: 120, rows: 40 },
    { cols: 120, rows: 40 }
  ],
  [
    { columns: 0, rows: 0 },
    { cols: 80, rows: 24 }
  ],
  [{}, { cols: 80, rows: 24 }]
])("a terminal of the size %j has the size %j in a workspace", (terminal, size) => {
  expect(sizeOf(terminal)).toStrictEqual(size)
})

describe("a table", () => {
  const rows = [{ name: "a-name-that-is-rather-long", text: "and a text that is much longer than the line", more: "more" }]
  const columns = [
    { title: "NAME", of: ({ name }: (typeof rows)[number]) => name, isKey: true },
    { title: "TEXT", of: ({ text: each }: (typeof rows)[number]) => each },
    { title: "MORE", of: ({ more }: (typeof rows)[number]) => more }
  ]

  it.each([200, 80, 60, 40, 30])("of %s columns never wraps, and keeps its keys whole", (width) => {
    const lines = table(rows, columns, width)
    expect(Math.max(...lines.map((line) => [...line].length))).toBeLessThanOrEqual(width)
    expect(lines[1]).toContain("a-name-that-is-rather-long")
  })

  it("shows nothing that controls the terminal, and counts wide characters", () => {
    const shown = table([{ name: "\u001b[2Jname", text: "日本語", more: "x" }], columns, 80)
    expect(shown).toStrictEqual(["NAME      TEXT    MORE", " [2Jname  日本語  x"])
  })
})

describe("a text", () => {
  it("of the service cannot control the terminal", () => {
    expect(plain("a\u001b]0;title\u0007b\nc")).toBe("a ]0;title b c")
    expect(logLine("\u001b[31mred\u001b[0m\u001b[2J\r\tx", true)).toBe("\u001b[31mred\u001b[0m[2J    x\u001b[0m")
    expect(logLine("\u001b[31mred\u001b[0m", false)).toBe("red")
  })

  it("tells times and sizes", () => {
    const now = Date.parse("2026-01-01T00:00:00Z")
    expect(
      ["2025-12-31T23:59:55Z", "2025-12-31T23:00:00Z", "2026-01-01T04:59:59Z", "2026-01-03T00:00:00Z", null].map((time) => ago(time, now))
    ).toStrictEqual(["now", "1 hour ago", "in 5 hours", "in 2 days", "never"])
    expect([0, 90_000, 5_400_000].map(durationText)).toStrictEqual(["0s", "1m30s", "1h30m"])
    expect([0, 1023, 1536, 5 * 1024 ** 3].map(bytesText)).toStrictEqual(["0 B", "1023 B", "1.5 KiB", "5.0 GiB"])
    expect(readDuration("1d2h")).toBe(93_600_000)
  })
})

describe("the words of users", () => {
  it("name workspaces and agents", () => {
    expect(placeOf("box")).toStrictEqual({ owner: "me", workspace: "box", agent: undefined })
    expect(placeOf("ada/box.main")).toStrictEqual({ owner: "ada", workspace: "box", agent: "main" })
    expect(() => placeOf("a/b/c")).toThrow('"a/b/c": is not the name of a workspace.')
  })

  it("are addresses of services", () => {
    expect(["dev.example.com", "http://127.0.0.1:3000/", "https://a.example/mount/"].map(readAddress)).toStrictEqual([
      "https://dev.example.com",
      "http://127.0.0.1:3000",
      "https://a.example/mount"
    ])
    expect(["127.0.0.1:3000", "localhost", "[::1]:3000/mount", "localhost.example"].map(readAddress)).toStrictEqual([
      "http://127.0.0.1:3000",
      "http://localhost",
      "http://[::1]:3000/mount",
      "https://localhost.example"
    ])
    for (const wrong of ["ftp://a.example", "https://user:secret@a.example", "https://"]) expect(() => readAddress(wrong)).toThrow("url:")
  })

  it("are ports", () => {
    expect(["80", "8080:80", "0.0.0.0:1:2", "[::1]:1:2", "0:80"].map(readForward)).toStrictEqual([
      { host: "127.0.0.1", local: 80, remote: 80 },
      { host: "127.0.0.1", local: 8080, remote: 80 },
      { host: "0.0.0.0", local: 1, remote: 2 },
      { host: "::1", local: 1, remote: 2 },
      { host: "127.0.0.1", local: 0, remote: 80 }
    ])
    expect(() => readForward("53/udp")).toThrow("UDP cannot be forwarded")
    for (const wrong of ["", "x", "70000", "1:0"]) expect(() => readForward(wrong)).toThrow("must be PORT")
  })

  it("are ends of a copy", () => {
    expect(["-", "./a:b", "/a", "box:", "ada/box.main:/etc", "dir/file"].map(readEnd)).toStrictEqual([
      { kind: "stream" },
      { kind: "local", path: "./a:b" },
      { kind: "local", path: "/a" },
      { kind: "remote", workspace: "box", path: "." },
      { kind: "remote", workspace: "ada/box.main", path: "/etc" },
      { kind: "local", path: "dir/file" }
    ])
  })

  it("are hosts of OpenSSH", () => {
    expect(["box.atelier", "box.ada.atelier", "main.box.ada.atelier"].map((host) => workspaceOfHost(host, "atelier"))).toStrictEqual([
      "box",
      "ada/box",
      "ada/box.main"
    ])
    expect(() => workspaceOfHost("a.b.c.d.atelier", "atelier")).toThrow("must be WORKSPACE")
  })

  it("leave a terminal that is stuck, or stop the program", () => {
    const typed = (text: string) => {
      const keys = escapeKeys()
      return [...Buffer.from(text)]
        .flatMap((byte) => keys(Uint8Array.of(byte)))
        .map((key) => (typeof key === "string" ? key : key.toString()))
    }
    expect(typed("~.")).toStrictEqual(["leave"])
    expect(typed("a~.\r~a~~.").join("")).toBe("a~.\r~a~~.")
    expect(typed("\r~~.").join("")).toBe("\r~.")
    expect(typed("ls\r~\u001aid\r~?")).toStrictEqual([..."ls\r", "suspend", ..."id\r", "explain"])
    expect(escapeKeys()(Buffer.from("~\u001als\r"))).toStrictEqual(["suspend", Buffer.from("ls\r")])
  })

  it("are parameters in a file", () => {
    expect(parametersIn('{"a":"x","n":3,"l":["y"]}', "f")).toStrictEqual([
      { name: "a", value: "x" },
      { name: "n", value: "3" },
      { name: "l", value: '["y"]' }
    ])
    for (const wrong of ["[]", "no"]) expect(() => parametersIn(wrong, "f.json")).toThrow("f.json:")
  })
})

it("versions differ by more than a minor one", () => {
  expect([
    differsMuch("0.1.0", "v0.2.3"),
    differsMuch("0.1.0", "0.3.0"),
    differsMuch("1.0.0", "2.0.0"),
    differsMuch("1.0.0", "dev")
  ]).toStrictEqual([false, true, true, false])
})

describe("the contexts", () => {
  let directory: string
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "atelier-contexts-"))
  })
  afterAll(() => rm(directory, { recursive: true, force: true }))

  it("are files that only the user can read, without drafts", async () => {
    const contexts = makeContexts(configDirectory({ XDG_CONFIG_HOME: directory }), keyStoreOf({ PATH: "/none" }))
    const context = { url: "https://dev.example.com", username: "ada", brand: "Service", token: "secret" }
    await contexts.write("dev.example.com", context)
    await contexts.use("dev.example.com")
    expect(await contexts.read("dev.example.com")).toStrictEqual(context)
    expect(await contexts.current()).toBe("dev.example.com")
    const file = join(directory, "atelier/contexts/dev.example.com.json")
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await stat(join(directory, "atelier/contexts"))).mode & 0o777).toBe(0o700)
    expect(await readdir(join(directory, "atelier/contexts"))).toStrictEqual(["dev.example.com.json"])

    await writeFile(file, "{")
    await expect(contexts.read("dev.example.com")).rejects.toMatchObject({ hint: "remove the file and log in again." })
    await contexts.remove("dev.example.com")
    expect(await contexts.names()).toStrictEqual([])
    expect(await contexts.current()).toBeUndefined()
    await expect(contexts.read("../secret")).rejects.toThrow("context:")
  })

  it("keep their secrets in the keychain of macOS, and show them to no other program", async () => {
    const bin = join(directory, "bin")
    await mkdir(bin)
    // Stands for the system's program: it keeps what its own command line is given, and its arguments
    await writeFile(
      join(bin, "security"),
      `#!/bin/sh
echo "$*" >> "${directory}/arguments"
case "$1" in
  -i) sed -E 's/.* -a ([^ ]+) .* -w "(.*)"$/\\1 \\2/' > "${directory}/entry" ;;
  find-generic-password) grep "^$5 " "${directory}/entry" | cut -d' ' -f2 ;;
  delete-generic-password) rm "${directory}/entry" ;;
esac
`,
      { mode: 0o755 }
    )
    const store = keyStoreOf({ PATH: `${bin}:${process.env["PATH"] ?? ""}` }, "darwin")
    expect(await store.put("id", 'a "label"', "the secret")).toBe(true)
    expect(await store.get("id")).toBe("the secret")
    await store.remove("id")
    expect(await store.get("id")).toBeUndefined()
    expect(await readFile(join(directory, "arguments"), "utf8")).not.toContain(Buffer.from("the secret").toString("base64url"))
  })

  it("are changed by one process at a time, and by none that was killed", async () => {
    const lock = join(directory, ".lock")
    const never = new AbortController().signal
    const order: Array<string> = []
    const work = (name: string) =>
      alone(lock, never, async () => {
        order.push(`${name} begins`)
        await new Promise((resolve) => setImmediate(resolve))
        order.push(`${name} ends`)
      })
    const { pid } = spawnSync("true")
    await writeFile(`${lock}.${pid}.0123456789abcdef`, "")
    // Its number is that of a process that lives
    const old = `${lock}.${process.pid}.0123456789abcdef`
    await writeFile(old, "")
    await utimes(old, 0, 0)
    const names = ["one", "two", "three", "four", "five"]
    await Promise.all(names.map(work))
    expect(order).toHaveLength(10)
    for (let at = 0; at < order.length; at += 2) expect(order[at + 1]).toBe(order[at]?.replace("begins", "ends"))
    expect((await readdir(directory)).filter((name) => name.startsWith(".lock"))).toStrictEqual([])
  })

  it("are read beside a renewal, which moves their secrets in the key store", async () => {
    const secrets = new Map<string, string>()
    let meanwhile: (() => Promise<void>) | undefined
    const store: KeyStore = {
      put: async (id, _, secret) => secrets.set(id, secret).has(id),
      get: async (id) => {
        const renew = meanwhile
        meanwhile = undefined
        await renew?.()
        return secrets.get(id)
      },
      remove: async (id) => void secrets.delete(id)
    }
    const contexts = makeContexts(join(directory, "moved"), store)
    const context = { url: "https://dev.example.com", username: "ada", brand: "Service", token: "old" }
    await contexts.write("dev", context, "key store")
    meanwhile = async () => void (await contexts.write("dev", { ...context, token: "new" }))
    expect(await contexts.read("dev")).toStrictEqual({ ...context, token: "new" })
    secrets.clear()
    await expect(contexts.read("dev")).rejects.toThrow("key store")
  })
})

describe("the configuration of OpenSSH", () => {
  const line = 'Include "/c/ssh/*.conf"'

  it("gets one line, once, and loses it again", () => {
    const own = "Host a\n  User b\n"
    const changed = withInclude(own, line, true)
    expect(changed).toBe(`${line}\n${own}`)
    expect(withInclude(changed, line, true)).toBe(changed)
    expect(withInclude(changed, line, false)).toBe(own)
    expect(withInclude(own, line, false)).toBe(own)
  })

  it("quotes paths", () => {
    const text = hostFile({ suffix: "dev", command: ["/it's/node", "100%"], directory: "/a b" })
    expect(text).toContain("ProxyCommand '/it'\\''s/node' '100%%' ssh --stdio --suffix dev '%n'")
    expect(text).toContain('UserKnownHostsFile "/a b/ssh/hosts/%n"')
  })

  it("leads editors to a folder by their links", () => {
    const place = { host: "main.box.ada.atelier", user: "ada", folder: "/home/a b" }
    expect(editorLink("code", place)).toBe("vscode://vscode-remote/ssh-remote+main.box.ada.atelier/home/a%20b")
    expect(editorLink("cursor", { ...place, folder: "/home/c#?" })).toBe(
      "cursor://vscode-remote/ssh-remote+main.box.ada.atelier/home/c%23%3F"
    )
    expect(editorLink("zed", { ...place, folder: "work" })).toBe("zed://ssh/main.box.ada.atelier/work")
    expect(editorLink("jetbrains", place)).toBe(
      "jetbrains-gateway://connect#type=ssh&host=main.box.ada.atelier&port=22&user=ada&projectPath=%2Fhome%2Fa%20b&deploy=false"
    )
  })
})

describe("the words of completion", () => {
  it("are those of the commands and their options", () => {
    const words = new Map(wordsByPath())
    expect(words.get("")).toContain("create")
    expect(words.get("")).not.toContain("complete")
    expect(words.get("templates")).toContain("push")
    expect(words.get("create")).toStrictEqual(expect.arrayContaining(["--template", "--output"]))
  })

  it("are found by bash", () => {
    const find = (line: string): ReadonlyArray<string> => {
      const parts = line.split(" ")
      const script = `${completionOf("bash", "atelier")}\nCOMP_WORDS=(${parts.map((part) => `'${part}'`).join(" ")}); COMP_CWORD=${parts.length - 1}; _atelier; printf '%s\\n' "\${COMPREPLY[@]}"`
      return spawnSync("bash", ["-c", script], { encoding: "utf8" }).stdout.trim().split("\n")
    }
    expect(find("atelier cre")).toStrictEqual(["create"])
    expect(find("atelier templates pu")).toStrictEqual(["push", "pull"])
    expect(find("atelier create box --tem")).toStrictEqual(["--template", "--template-version"])
    expect(find("atelier templates push --mes")).toStrictEqual(["--message"])
    expect(find("atelier list --output ")).toStrictEqual(["table", "json", "jsonl"])
    expect(find("atelier open first --in z")).toStrictEqual(["zed"])
    expect(find("atelier completion f")).toStrictEqual(["fish"])
    expect(find("atelier autoupdate first a")).toStrictEqual(["always"])
    // A value of the user's own
    expect(find("atelier create --preset ")).toStrictEqual([""])
  })

  it("are found by fish", (test) => {
    if (spawnSync("fish", ["--version"]).error !== undefined) return test.skip("fish is not installed")
    const script = join(mkdtempSync(join(tmpdir(), "atelier-fish-")), "completion.fish")
    writeFileSync(script, completionOf("fish", "atelier"))
    const find = (line: string): ReadonlyArray<string> => {
      const { stdout } = spawnSync("fish", ["--no-config", "-c", `source ${script}; complete -C "${line}"`], { encoding: "utf8" })
      return stdout
        .trim()
        .split("\n")
        .map((each) => each.split("\t")[0] ?? "")
    }
    expect(find("atelier cre")).toStrictEqual(["create"])
    expect(find("atelier templates pu").toSorted()).toStrictEqual(["pull", "push"])
    expect(find("atelier templates push --mes")).toStrictEqual(["--message"])
    expect(find("atelier list --output ").toSorted()).toStrictEqual(["json", "jsonl", "table"])
    expect(find("atelier open first --in z")).toStrictEqual(["zed"])
    expect(find("atelier completion f")).toStrictEqual(["fish"])
  })

  it("are found by zsh at its prompt", async (test) => {
    if (spawnSync("zsh", ["--version"]).error !== undefined) return test.skip("zsh is not installed")
    const directory = await mkdtemp(join(tmpdir(), "atelier-zsh-"))
    await writeFile(join(directory, "completion"), completionOf("zsh", "atelier"))
    // Types into a shell with a terminal of its own, and reads the line that comes of it
    const script = `
      zmodload zsh/zpty
      zpty shell "HOME=${directory} zsh -f -i"
      zpty -w shell 'PS1=; stty -echo; source ${directory}/completion; print REA""DY'
      zpty -r -m shell out '*READY*'
      for line in 'atelier cre' 'atelier templates pus' 'atelier templates push --mes' 'atelier create box --prese' 'atelier list --output tab' 'atelier completion f'; do
        zpty -wn shell "$line"$'\\t\\C-aprint -r -- "GO""T:\\C-e"\\n'
        zpty -r -m shell out $'*GOT:*\\n*' && print -r -- "\${out##*GOT:}"
      done
      zpty -d shell`
    const { stdout } = spawnSync("zsh", ["-f", "-c", script], {
      encoding: "utf8",
      timeout: 60_000,
      env: { PATH: process.env["PATH"] ?? "", HOME: directory, TERM: "xterm" }
    })
    await rm(directory, { recursive: true })
    const found = stdout.split("\n").flatMap((line) => /^(atelier .*?)\s*$/.exec(line)?.[1] ?? [])
    expect(found).toStrictEqual([
      "atelier create",
      "atelier templates push",
      "atelier templates push --message",
      "atelier create box --preset",
      "atelier list --output table",
      "atelier completion fish"
    ])
  })
})

describe("the proxy", () => {
  it("reads requests once they are whole", () => {
    const request = Uint8Array.of(5, 1, 0, 3, 3, 98, 111, 120, 0x1f, 0x90, 99)
    expect(readRequest(request)).toStrictEqual({ command: 1, host: "box", port: 8080, length: 10 })
    expect(readRequest(request.subarray(0, 9))).toBeUndefined()
    expect(readRequest(Uint8Array.of(5, 1, 0, 1, 127, 0, 0, 1, 0, 80))).toMatchObject({ host: "127.0.0.1", port: 80 })
  })
})

describe("an archive of a workspace", () => {
  const unpacked = async (entries: ReadonlyArray<Partial<Header> & Pick<Header, "name">>) => {
    const root = await mkdtemp(join(tmpdir(), "atelier-archive-"))
    const outside = join(root, "outside")
    const inside = join(root, "inside")
    await Promise.all([mkdir(outside, { mode: 0o711 }), mkdir(inside)])
    const archive = pack()
    for (const entry of entries)
      archive.entry({ ...entry, linkname: entry.linkname?.replace("OUTSIDE", outside) ?? "" }, entry.type === "file" ? "new" : "")
    archive.finalize()
    const result = await unpack(Readable.from(archive), inside, new AbortController().signal).then(
      ({ entries }) => String(entries),
      (error: Error) => error.message
    )
    const left = { result, outside: await readdir(outside), mode: (await stat(outside)).mode & 0o777 }
    await rm(root, { recursive: true, force: true })
    return left
  }

  it.each([
    [{ name: "../x", type: "file" }],
    [
      { name: "a", type: "symlink", linkname: "OUTSIDE" },
      { name: "a/x", type: "file" }
    ],
    [
      { name: "a", type: "symlink", linkname: "OUTSIDE" },
      { name: "a/b/c/", type: "directory" }
    ]
  ] as const)("cannot write outside of its folder: %j", async (...entries) => {
    expect(await unpacked(entries)).toStrictEqual({ result: expect.stringContaining("leads out of it"), outside: [], mode: 0o711 })
  })

  it("replaces its own link instead of following it", async () => {
    const entries = [
      { name: "a", type: "symlink", linkname: "OUTSIDE" },
      { name: "a/", type: "directory", mode: 0o777 }
    ] as const
    expect(await unpacked(entries)).toStrictEqual({ result: "2", outside: [], mode: 0o711 })
  })
})

describe("a template file", () => {
  it("is looked at before it is sent", () => {
    expect(checkText("agents:\n  - name: main\n", "template.yaml")).toStrictEqual([])
    expect(checkText("agents:\n  - name: [\n", "template.yaml")).toStrictEqual([expect.stringMatching(/^template\.yaml:\d: /)])
    expect(checkText("text", "template.yaml")).toStrictEqual(["template.yaml: must have fields, such as agents."])
  })
})

describe("the manual", () => {
  it("is made of the program's own help", async () => {
    expect(manual()).toBe(await readFile(new URL("../../../docs/command-line.md", import.meta.url), "utf8"))
  })

  it("has all commands", () => {
    const names = commands.map(({ name }) => name)
    const page = manual()
    expect(names.filter((name) => !page.includes(`\n### ${name}`))).toStrictEqual(["complete"])
    expect(new Set(names).size).toBe(names.length)
  })
})
