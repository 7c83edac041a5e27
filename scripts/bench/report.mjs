// What was measured, as a table.

const format = (value) =>
  typeof value !== "number"
    ? value
    : value >= 100
      ? Math.round(value).toLocaleString("en")
      : value.toLocaleString("en", { maximumFractionDigits: value >= 10 ? 1 : 2 })

/** Collects figures and prints each as it comes. `recorded` knows the ratios of an earlier run. */
export const makeReport = (recorded) => {
  const rows = []
  const measured = []
  const regressions = []
  const failures = []
  return {
    /**
     * Adds a figure. `value` is what was measured, in `unit`; `ratio` is what its target speaks of where that is not the value itself, and
     * `spread` its least and greatest value in several turns, and `other` the value of what it is compared with. A target is `{ atLeast }` or `{ atMost }`.
     * `isRecorded` compares the ratio with the recorded one, where more is better unless `isLess`.
     */
    add: ({ database = "", figure, isLess, isRecorded = false, other, ratio, spread, target, unit, value }) => {
      const judged = ratio ?? value
      const { atLeast, atMost } = target ?? {}
      if (isRecorded) {
        measured.push({ database, figure, ratio })
        const before = recorded.regression({ database, figure, isLess: isLess ?? atMost !== undefined, ratio })
        if (before !== undefined) regressions.push(`${figure}, ${database}: ${ratio.toFixed(2)}, and ${before} before`)
      }
      const isMet = atLeast !== undefined ? judged >= atLeast : atMost !== undefined ? judged <= atMost : undefined
      rows.push({
        figure,
        database,
        value: `${format(value)} ${unit}`,
        other: other === undefined ? "" : `${format(other)} ${unit}`,
        ratio: ratio === undefined ? "" : ratio.toFixed(2),
        spread: spread === undefined ? "" : `${spread.least.toFixed(2)}–${spread.greatest.toFixed(2)}`,
        target: atLeast !== undefined ? `≥ ${atLeast}` : atMost !== undefined ? `≤ ${atMost}` : "",
        met: isMet === undefined ? "" : isMet ? "yes" : "no"
      })
      const { met, ...row } = rows.at(-1)
      console.log(
        `  ${Object.values(row)
          .filter((text) => text !== "")
          .join("  ")}${met === "no" ? "  (missed)" : ""}`
      )
    },
    /** A figure that could not be measured. */
    fail: ({ database = "", figure, reason }) => {
      rows.push({ figure, database, value: "failed", other: "", ratio: "", spread: "", target: "", met: "" })
      failures.push(`${figure}, ${database}: ${reason}`)
      console.log(`  ${figure}  ${database}  failed: ${reason}`)
    },
    print: () => {
      const header = {
        figure: "figure",
        database: "database",
        value: "measured",
        other: "other",
        ratio: "ratio",
        spread: "spread",
        target: "target",
        met: "met"
      }
      // A table without targets, or with nothing to compare, has no column for it
      const names = Object.keys(header).filter((name) => rows.some((row) => row[name] !== ""))
      const widths = names.map((name) => Math.max(...[header, ...rows].map((row) => row[name].length)))
      const line = (row) =>
        names
          .map((name, index) =>
            name === "figure" || name === "database" ? row[name].padEnd(widths[index]) : row[name].padStart(widths[index])
          )
          .join("  ")
          .trimEnd()
      if (regressions.length > 0)
        console.log(["", "worse than recorded by more than a fifth:", ...regressions.map((text) => `  ${text}`)].join("\n"))
      if (failures.length > 0) console.log(["", "could not be measured:", ...failures.map((text) => `  ${text}`)].join("\n"))
      console.log(["", line(header), widths.map((width) => "-".repeat(width)).join("  "), ...rows.map(line), ""].join("\n"))
    },
    /** Whether a figure could not be measured, or has become worse. */
    failed: () => regressions.length > 0 || failures.length > 0,
    record: () => recorded.record(measured)
  }
}
