import { writeSync } from "node:fs"
import type { Reporter, TestModule } from "vitest/node"

/** Ends the run's output with one line that tools and people can read: how many tests passed and failed. */
export default class Summary implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, errors: ReadonlyArray<unknown>): void {
    const counts = { passed: 0, failed: 0, skipped: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state !== "pending") counts[state]++
      }
      // A file that does not load has no tests of its own to fail
      if (module.state() === "failed" && module.errors().length > 0) counts.failed++
    }
    counts.failed += errors.length
    const skipped = counts.skipped === 0 ? "" : `, ${counts.skipped} skipped`
    // Other reporters have their say first
    process.once("exit", () => writeSync(1, `\n${counts.passed} passed, ${counts.failed} failed${skipped}\n`))
  }
}
