/** What a program does in a sandbox over streams, the same over the network and in the process of the service. */
import { type Client, type Sandbox, workspaces } from "@atelier/client"

export interface Streamed {
  /** What a process that stays wrote, and how it ended. */
  readonly process: readonly [stdout: string, exitCode: number | null]
  /** The name of a file whose beginning was told. */
  readonly watched: string | undefined
  readonly terminal: string
  /** The status of the workspace after the object was disposed of. */
  readonly disposed: string
}

const textUntil = async (stream: ReadableStream<Uint8Array>, isWhole: (text: string) => boolean = () => false): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ""
  for await (const bytes of stream) {
    text += decoder.decode(bytes, { stream: true })
    if (isWhole(text)) break
  }
  return text
}

/** The path of the first text file that a watch tells of. A file is written under another name first. */
const firstWatched = async ({ files }: Sandbox): Promise<string | undefined> => {
  await files.mkdir("watched")
  for await (const { events = [] } of files.watch("watched")) {
    const path = events.map((event) => event.path).find((path) => path.endsWith(".txt"))
    if (path !== undefined) return path
  }
  return undefined
}

export const sandboxStreams = async (client: Client): Promise<Streamed> => {
  const sandbox = await client.sandboxes.create({ template: "shell", timeout: 600_000 })

  const spawned = await sandbox.spawn("read line; echo got $line; exit 3")
  const stdin = spawned.stdin.getWriter()
  await stdin.write("hello\n")
  await stdin.close()
  const stdout = await textUntil(spawned.stdout)
  const { exitCode } = await spawned.wait()

  // The watch begins with its connection, which tells nothing: files are written until one is told
  const told = new AbortController()
  const watching = firstWatched(sandbox).finally(() => told.abort())
  for (let index = 0; !told.signal.aborted; index++) await sandbox.files.write(`watched/${index}.txt`, "")
  const watched = await watching

  const terminal = await sandbox.terminal()
  const keys = terminal.input.getWriter()
  await keys.write("echo $((6 * 7))\n")
  const shown = await textUntil(terminal.output, (text) => /^42\r?$/m.test(text))
  await terminal.closed

  await sandbox[Symbol.asyncDispose]()
  const { latest_build } = await workspaces.getWorkspace(client, { workspace: sandbox.id, include_deleted: true })
  return { process: [stdout, exitCode], watched, terminal: shown, disposed: latest_build.transition }
}
