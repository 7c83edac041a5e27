import { existsSync } from "node:fs"

/** Whether a program that `npm test` builds has to be there, or is: without it, a test in a run of `npm test` fails and is not skipped. */
export const isBuilt = (program: string): boolean => process.env["ATELIER_COMPILED"] === "1" || existsSync(program)
