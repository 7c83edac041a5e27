// Stands for the module of the same name in a bundled program: the program is a script beside it, with the code that V8 has compiled of it.
import { pathToFileURL } from "node:url"
import { load } from "./load.mjs"
import { createRequireBeside } from "./ownFiles.mjs"

const { url } = import.meta
const { resolve } = createRequireBeside(url)(url)
const meta = { url, resolve: (name) => pathToFileURL(resolve(name)).href }

export const { run } = load(new URL("program-main.cjs", url), meta).exports
