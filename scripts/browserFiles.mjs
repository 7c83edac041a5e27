// Copies the files of libraries that browsers load into the package that serves them. Hosts get no more of these libraries: sources and other builds are the
// most of them, and the interface's browser asks for a package that reports each installation to its makers, which `scripts/nothing` replaces here.
import { cp, mkdir } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const { resolve } = createRequire(new URL("../packages/http/package.json", import.meta.url))
const browser = fileURLToPath(new URL("../packages/http/browser", import.meta.url))

/** Copies files of a package below a folder. Those of another name are pairs. */
const copy = async (library, folder, files) => {
  const from = dirname(resolve(`${library}/package.json`))
  await mkdir(join(browser, folder), { recursive: true })
  for (const file of files) {
    const [path, name] = [file].flat()
    await cp(join(from, path), join(browser, folder, name ?? path))
  }
}

const license = "swagger-ui-bundle.js.LICENSE.txt"
await copy("swagger-ui-dist", "swagger", ["swagger-ui.css", "swagger-ui-bundle.js", license, "favicon-32x32.png", "LICENSE", "NOTICE"])
await copy("@xterm/xterm", "xterm", [
  ["lib/xterm.mjs", "xterm.mjs"],
  ["css/xterm.css", "xterm.css"],
  ["LICENSE", "LICENSE"]
])
await copy("@xterm/addon-fit", "xterm", [
  ["lib/addon-fit.mjs", "addon-fit.mjs"],
  ["LICENSE", "addon-fit.LICENSE"]
])
