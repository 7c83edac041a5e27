// Copies the files of the interface's browser into the package that serves them. Hosts get no more of the package that they come from: it asks
// for one that reports each installation to its makers, which `scripts/nothing` replaces here.
import { cp, mkdir } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const from = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"))
const to = fileURLToPath(new URL("../packages/http/browser/swagger", import.meta.url))

const names = ["swagger-ui.css", "swagger-ui-bundle.js", "swagger-ui-bundle.js.LICENSE.txt", "favicon-32x32.png", "LICENSE", "NOTICE"]

await mkdir(to, { recursive: true })
for (const name of names) await cp(join(from, name), join(to, name))
