/** The folder of what the program keeps. */
import { reasonOf, StartError } from "@atelier/core/platform"
import { mkdir } from "node:fs/promises"
import { homedir } from "node:os"
import { dirname, isAbsolute, join } from "node:path"
import type { Options } from "./Options.js"

/** The default folder, in the user's data directory of the XDG Base Directory Specification, which ignores relative paths. */
export const usualDataDirectory = ({ XDG_DATA_HOME: home }: Readonly<Record<string, string | undefined>>): string =>
  join(home !== undefined && isAbsolute(home) ? home : join(homedir(), ".local", "share"), "atelier")

/** Makes the data directory for its owner alone, where something is kept in it. Throws `StartError`. */
export const makeDataDirectory = async ({
  dataDirectory,
  database,
  workspacesDirectory
}: Pick<Options, "dataDirectory" | "database" | "workspacesDirectory">): Promise<void> => {
  const kept = [workspacesDirectory, ...(database.kind === "sqlite" ? [database.filename] : [])]
  if (!kept.some((path) => dirname(path) === dataDirectory)) return
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw new StartError({ option: "dataDirectory", value: dataDirectory, reason: reasonOf(error) })
  })
}
