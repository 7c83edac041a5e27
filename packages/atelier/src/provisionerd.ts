/** Serves as a provisioner daemon, with the engines of this project. */
import { runDaemon } from "@atelier/provisioner/daemon/program"
import { calledAs } from "./called.js"

/** Runs the daemon until a signal ends it, and returns the exit code. */
export const run = (words: ReadonlyArray<string>): Promise<number> =>
  runDaemon({
    args: words,
    called: `${calledAs(process.env)} provisionerd`,
    included: {
      docker: () => import("@atelier/provisioner-docker/daemon"),
      kubernetes: () => import("@atelier/provisioner-kubernetes/daemon"),
      terraform: () => import("@atelier/provisioner-terraform/daemon")
    }
  })
