import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import projects from "./vitest.workspace.js"

/** What holds for the run as a whole; `vitest.workspace.ts` says what it runs. */
export default defineConfig({
  test: {
    // Loading the modules takes longer than most files' tests, so files share one load per worker: no test changes what another could see
    isolate: false,
    // Tests with real processes wait more than they work
    maxWorkers: availableParallelism() + 1,
    projects
  }
})
