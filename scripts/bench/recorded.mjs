// The ratios of the last run that was recorded: a run fails where one has become worse by more than a fifth.
import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const file = new URL("recorded.json", import.meta.url)

const tolerated = 0.2

const commitOf = (directory) => {
  try {
    return execFileSync("git", ["rev-parse", "HEAD"], {
      cwd: fileURLToPath(directory),
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"]
    }).trim()
  } catch {
    return ""
  }
}

/**
 * The ratios of a kind of run: of the sections, or against another checkout, whose URL is `other`. Those against another commit than the recorded
 * one say nothing, so none of them counts.
 */
export const recordedRatios = (other) => {
  const all = JSON.parse(readFileSync(file, "utf8"))
  const ratios = other === undefined ? all.sections : all.against
  const isKnown = other === undefined || commitOf(other).startsWith(ratios.commit)
  return {
    isKnown,
    /** What has become worse: the recorded ratio; undefined where a ratio is as good as it was, or was never recorded. */
    regression: ({ database, figure, isLess, ratio }) => {
      const recorded = isKnown ? ratios[database]?.[figure] : undefined
      if (recorded === undefined) return undefined
      const isWorse = isLess ? ratio > recorded * (1 + tolerated) : ratio < recorded * (1 - tolerated)
      return isWorse ? recorded : undefined
    },
    /** Takes the ratios of a run in place of the recorded ones. */
    record: (measured) => {
      if (!isKnown) throw new Error(`only a run against ${ratios.commit} is recorded`)
      for (const { database, figure, ratio } of measured) {
        ratios[database] ??= {}
        ratios[database][figure] = Number(ratio.toFixed(2))
      }
      writeFileSync(file, `${JSON.stringify(all, null, 2)}\n`)
    }
  }
}
