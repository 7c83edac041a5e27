import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { LongestFirst } from "./test/run/sequence.js"
import projects from "./vitest.workspace.js"

/** Tests with real processes wait more than they work, and others wait for PostgreSQL. */
const workers = availableParallelism() + 2

/** What holds for the run as a whole; `vitest.workspace.ts` says what it runs. */
export default defineConfig({
  test: {
    // Loading the modules takes longer than most files' tests, so files share one load per worker: no test changes what another could see
    isolate: false,
    // Idle workers stay: the pool may end one twice, which fails the run
    minWorkers: workers,
    maxWorkers: workers,
    // Requests leave much garbage that dies young: in V8's small first space, collecting it takes a tenth of a worker's time instead of a fifteenth
    // Most of the code runs a few times only: compiling it at once, without optimizing, takes less than interpreting it first
    poolOptions: { forks: { execArgv: ["--min-semi-space-size=32", "--max-semi-space-size=32", "--always-sparkplug"] } },
    sequence: { sequencer: LongestFirst },
    // With `--coverage`: of every source file, loaded or not; a failed run tells what it covered too
    coverage: {
      provider: "v8",
      include: ["packages/*/src/**"],
      exclude: ["**/generated/**"],
      reporter: ["text-summary", "json-summary"],
      reportOnFailure: true
    },
    projects
  }
})
