/** The daemon's program for other programs, which have it as one of their commands. */
export { type DaemonProgram, runDaemon } from "./run.js"
