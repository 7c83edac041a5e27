import { fileURLToPath } from "node:url"
import { defineWorkspace } from "vitest/config"
import { compiled, compiledModules } from "./test/run/compiled.js"

/** Coverage is counted of sources. */
const isCompiled = process.env["ATELIER_COMPILED"] === "1" && !process.argv.some((word) => word.startsWith("--coverage"))

/** Tests run against the packages' sources, and no build is needed before them, unless one that was made just before is to be run. */
const conditions = [...(isCompiled ? [] : ["atelier-source"]), "node", "import", "module", "default"]

/** One project: files of different projects would not share workers, nor what these have loaded. */
export default defineWorkspace([
  {
    plugins: isCompiled ? [compiled] : [],
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: {
      name: "atelier",
      root: fileURLToPath(new URL(".", import.meta.url)),
      include: ["{packages,examples}/*/test/**/*.test.ts", "test/**/*.test.ts"],
      server: { deps: { external: isCompiled ? [compiledModules] : [] } },
      setupFiles: [fileURLToPath(new URL("test/run/pristine.ts", import.meta.url))],
      runner: fileURLToPath(new URL("test/run/lateAnswers.ts", import.meta.url)),
      globalSetup: ["test/run/leftovers.ts", "test/run/postgres.ts"].map((file) => fileURLToPath(new URL(file, import.meta.url))),
      // Only what hangs is to fail for it: a busy machine may take many times as long as a quiet one
      testTimeout: 300_000,
      hookTimeout: 300_000,
      expect: { poll: { timeout: 60_000 } },
      // A landing does not wait for what chance decided; the summary names such a test, which is a defect to repair
      retry: process.env["CI"] === undefined ? 0 : 2
    }
  }
])
