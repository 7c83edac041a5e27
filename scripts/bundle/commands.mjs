// Stands for the module of the same name in a bundled program: the program is a script beside it, with the code that V8 has compiled of it.
import { load } from "./load.mjs"

export const { run } = load(new URL("program-main.cjs", import.meta.url), import.meta).exports
