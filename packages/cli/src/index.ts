/** The command line, for programs that have words of their own beside it. */
export { run, type RunOptions } from "./run.js"
