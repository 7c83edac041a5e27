import { closeSync, openSync } from "node:fs"
import { devNull } from "node:os"

/** Opens as many files at once, and closes them. Throws the error of the one that the process or the system cannot open. */
export const requireFiles = (count: number): void => {
  const opened: Array<number> = []
  try {
    while (opened.length < count) opened.push(openSync(devNull, "r"))
  } finally {
    for (const file of opened) closeSync(file)
  }
}
