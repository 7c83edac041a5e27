import { readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { defineWorkspace, type UserWorkspaceConfig } from "vitest/config"

/** Tests run against the packages' sources: no build is needed before them. */
const conditions = ["atelier-source", "node", "import", "module", "default"]

const projectsIn = (folder: string): Array<UserWorkspaceConfig> =>
  readdirSync(new URL(folder, import.meta.url)).map((name) => ({
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: {
      name,
      root: fileURLToPath(new URL(`${folder}/${name}`, import.meta.url)),
      include: ["test/**/*.test.ts"],
      globalSetup: [fileURLToPath(new URL("test/postgres.ts", import.meta.url))],
      testTimeout: 20_000,
      hookTimeout: 30_000
    }
  }))

/** What holds for the repository as a whole. */
const repository: UserWorkspaceConfig = {
  resolve: { conditions },
  test: { name: "repository", root: fileURLToPath(new URL(".", import.meta.url)), include: ["test/**/*.test.ts"], testTimeout: 120_000 }
}

export default defineWorkspace([...projectsIn("packages"), ...projectsIn("examples"), repository])
