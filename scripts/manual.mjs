// Writes docs/command-line.md of the help of the command line. A test compares them. `npm run manual` after a change of commands.
import { writeFile } from "node:fs/promises"
import { manual } from "../packages/cli/dist/command/manual.js"

await writeFile(new URL("../docs/command-line.md", import.meta.url), manual())
