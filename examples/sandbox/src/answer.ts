/** Runs a program in a workspace that lives as long as this function. */
import type { Client } from "@atelier/client"

/** What came of the program. */
export interface Answer {
  readonly stdout: string
  readonly exitCode: number | null
  /** Where a server on port 8000 of the workspace is reached. */
  readonly preview: string
}

/** Makes a workspace of the starter template `shell`, runs a program in it, and deletes it, whatever happens. */
export const answer = async (client: Client, say: (line: string) => void): Promise<Answer> => {
  const sandbox = await client.sandboxes.create({ template: "shell", timeout: 600_000, onProgress: ({ output }) => say(output) })
  try {
    await sandbox.files.write("main.sh", "echo $((6 * 7))")
    const { exitCode, stdout } = await sandbox.exec("sh main.sh")
    return { stdout, exitCode, preview: await sandbox.url(8000) }
  } finally {
    await sandbox.delete()
  }
}
