import { fileURLToPath } from "node:url"
import { defineWorkspace } from "vitest/config"

/** Tests run against the packages' sources: no build is needed before them. */
const conditions = ["atelier-source", "node", "import", "module", "default"]

/** One project: files of different projects would not share workers, nor what these have loaded. */
export default defineWorkspace([
  {
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: {
      name: "atelier",
      root: fileURLToPath(new URL(".", import.meta.url)),
      include: ["{packages,examples}/*/test/**/*.test.ts", "test/**/*.test.ts"],
      globalSetup: [fileURLToPath(new URL("test/postgres.ts", import.meta.url))],
      testTimeout: 20_000,
      hookTimeout: 30_000
    }
  }
])
