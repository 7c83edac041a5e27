/** The folder of what the program keeps. */
import { reasonOf, StartError } from "@atelier/core/platform"
import { mkdir } from "node:fs/promises"
import { homedir } from "node:os"
import { isAbsolute, join } from "node:path"

/** The folder without an option: of the user's data, as the XDG Base Directory Specification has it. It ignores relative paths. */
export const usualDataDirectory = ({ XDG_DATA_HOME: home }: Readonly<Record<string, string | undefined>>): string =>
  join(home !== undefined && isAbsolute(home) ? home : join(homedir(), ".local", "share"), "atelier")

/** Makes the folder for its owner alone, unless it is there. Throws `StartError`. */
export const makeDataDirectory = async (directory: string): Promise<void> => {
  await mkdir(directory, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw new StartError({ option: "dataDirectory", value: directory, reason: reasonOf(error) })
  })
}
