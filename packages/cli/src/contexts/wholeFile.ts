/** Files that are there whole or not at all, also when the program is killed while it writes. */
import { randomBytes } from "node:crypto"
import { mkdir, open, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import { writeFailure } from "../Failure.js"

/** Of files and directories that only the user may read. */
const privateFile = 0o600
const privateDirectory = 0o700

/** Writes a file beside its place and renames it. Makes the directories above it. */
export const writeWhole = async (path: string, text: string, mode: number = privateFile): Promise<void> => {
  await mkdir(dirname(path), { recursive: true, mode: privateDirectory })
  const draft = join(dirname(path), `.${randomBytes(8).toString("hex")}.draft`)
  try {
    const file = await open(draft, "wx", mode)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw writeFailure(error, path)
  }
}
