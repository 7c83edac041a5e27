// Writes docs/options.md from the definitions of the options. `npx tsc -b` first.
import { writeFile } from "node:fs/promises"
import { optionsPage } from "../packages/atelier/dist/OptionsPage.js"

await writeFile(new URL("../docs/options.md", import.meta.url), optionsPage())
