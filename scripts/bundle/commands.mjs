// Stands for the module of the same name in a bundled program: its parts are in a script of their own, beside the program, with the code that V8
// has compiled of it. Reading that takes a tenth of the time that compiling takes.
import { load } from "./load.mjs"

export const { commands } = load(new URL("program-main.cjs", import.meta.url), import.meta).exports
