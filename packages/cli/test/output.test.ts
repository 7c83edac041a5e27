/** What the program writes where no colours are wanted: no sequence that a terminal would act on. */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { tmpdir } from "node:os"
import { PassThrough } from "node:stream"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { writeFailure } from "../src/Failure.js"
import { runIn } from "../src/run.js"
import { makeOutput } from "../src/terminal/Output.js"

const escape = "\u001b"

/** Standard output (1) or standard error (2), which is a terminal or not, and what was written to it. */
const aStream = <Fd extends 1 | 2>(fd: Fd, isTTY: boolean) => {
  const stream = Object.assign(new PassThrough(), { isTTY, columns: 80, rows: 24, fd })
  let text = ""
  stream.on("data", (bytes) => (text += String(bytes)))
  // A PassThrough has what the program uses of these streams
  return { stream: stream as unknown as NodeJS.WriteStream & { fd: Fd }, text: () => text }
}

const surroundings = [
  ["on a terminal with NO_COLOR", true, { NO_COLOR: "1", TERM: "xterm" }],
  ["on a terminal that knows no sequences", true, { TERM: "dumb" }],
  ["in a pipe", false, { TERM: "xterm" }],
  ["in a pipe with NO_COLOR", false, { NO_COLOR: "1", TERM: "xterm" }]
] as const

const columns = [
  { title: "NAME", of: ({ name }: { readonly name: string }) => name, isKey: true },
  { title: "STATUS", of: () => "running" }
]

/** Writes a list, a line of a coloured log, warnings, and what is waited for, for ten seconds. */
const writeAll = async (isTTY: boolean, env: NodeJS.ProcessEnv) => {
  const [out, error] = [aStream(1, isTTY), aStream(2, isTTY)]
  const output = makeOutput({ env, format: "table", isQuiet: false, isDebug: true, stdout: out.stream, stderr: error.stream })
  output.list([{ name: "desk" }], columns)
  output.one({ name: "desk" }, [["Name", "desk"]])
  output.log(`${escape}[31mred${escape}[0m ${escape}[2Jend`)
  output.warn("slow")
  const waiting = output.waiting("Starting", new Promise((resolve) => setTimeout(resolve, 10_000)))
  await vi.advanceTimersByTimeAsync(10_000)
  await waiting
  output.say("Started.")
  return { out: out.text(), error: error.text() }
}

describe("output", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it.each(surroundings)("has no escape sequences %s", async (_, isTTY, env) => {
    const { error, out } = await writeAll(isTTY, env)
    expect(out).toMatch(/NAME +STATUS\ndesk +running\n/)
    expect(error).toMatch(/^red \[2Jend\nWarning: slow\nStarting …\nStarted\.\n$/)
    expect(out + error).not.toContain(escape)
  })

  it("shows how far it is on a terminal", async () => {
    const { stream: stderr, text } = aStream(2, true)
    const { stream: stdout } = aStream(1, true)
    const output = makeOutput({ env: { TERM: "xterm" }, format: "table", isQuiet: false, isDebug: false, stdout, stderr })
    let count = 0
    let end = (): void => undefined
    const waiting = output.waiting(() => `Copied ${count}`, new Promise<void>((resolve) => (end = resolve)))
    await vi.advanceTimersByTimeAsync(1_050)
    count = 7
    await vi.advanceTimersByTimeAsync(200)
    end()
    await waiting
    expect(text()).toMatch(/Copied 0.*Copied 7/s)
  })

  it("has the colours of logs, and a line that moves, on a terminal otherwise", async () => {
    const { error } = await writeAll(true, { TERM: "xterm" })
    expect(error).toContain(`${escape}[31mred`)
    expect(error).toContain(`${escape}[K`)
    expect(error).not.toContain(`${escape}[2J`)
  })
})

it.each(surroundings)("a failure has no escape sequences %s", async (_, isTTY, env) => {
  const [stdout, stderr] = [aStream(1, isTTY), aStream(2, isTTY)]
  const words = ["list", "--url", "http://127.0.0.1:1", `--output=${escape}[31mred`]
  const stdin = process.stdin
  const code = await runIn({ env: { ...env, HOME: "/nowhere" }, stdin, stdout: stdout.stream, stderr: stderr.stream }, words, "atelier")
  expect(code).toBe(2)
  expect(stderr.text()).toContain("Error: ")
  expect(stdout.text() + stderr.text()).not.toContain(escape)
})

it.skipIf(!existsSync("/dev/full"))("a program whose output is lost fails, and says why", () => {
  const main = fileURLToPath(new URL("../dist/main.js", import.meta.url))
  const { status, stderr } = spawnSync("sh", ["-c", 'exec "$0" "$@" >/dev/full', process.execPath, main, "help"], { encoding: "utf8" })
  expect([status, stderr]).toStrictEqual([1, "Error: standard output: the disk is full.\n"])
})

it("a file of the user that cannot be written is named", () => {
  const module = new URL("../dist/contexts/wholeFile.js", import.meta.url).href
  const source = `import { writeWhole } from "${module}"
await writeWhole("full.json", "{}").catch(({ message }) => console.log(message))`
  // The system refuses each byte. It does not name the file
  const { stdout } = spawnSync("sh", ["-c", 'ulimit -f 0; exec "$0" "$@"', process.execPath, "--input-type=module", "-e", source], {
    cwd: tmpdir(),
    encoding: "utf8"
  })
  expect(stdout).toBe("full.json: EFBIG: file too large, write.\n")
})

it("a write that fails names the file, which the system leaves out", () => {
  const full = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC", syscall: "write" })
  expect(writeFailure(full, "a.txt")).toMatchObject({ message: "a.txt: the disk is full." })
  const named = Object.assign(new Error("EACCES: permission denied, open 'b.txt'"), { code: "EACCES", syscall: "open", path: "b.txt" })
  expect(writeFailure(named, "a.txt")).toBe(named)
})
