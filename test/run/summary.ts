import { writeSync } from "node:fs"
import { relative } from "node:path"
import type { Reporter, TestModule } from "vitest/node"

/** Ends the run's output with the tests that passed at another try only, and one line that tools and people can read: how many passed and failed. */
export default class Summary implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, errors: ReadonlyArray<unknown>): void {
    const counts = { passed: 0, failed: 0, skipped: 0 }
    const flaky: Array<string> = []
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state !== "pending") counts[state]++
        if (test.diagnostic()?.flaky === true) flaky.push(`Flaky: ${relative(process.cwd(), module.moduleId)} > ${test.fullName}\n`)
      }
      // A file that does not load has no tests of its own to fail
      if (module.state() === "failed" && module.errors().length > 0) counts.failed++
    }
    counts.failed += errors.length
    const skipped = counts.skipped === 0 ? "" : `, ${counts.skipped} skipped`
    // Other reporters have their say first
    process.once("exit", () => writeSync(1, `\n${flaky.join("")}${counts.passed} passed, ${counts.failed} failed${skipped}\n`))
  }
}
