import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as LocalProvisioner from "../local/LocalProvisioner.js"
import * as DaemonEngine from "./DaemonEngine.js"

/** The local engine, which needs no package beside this one. */
export const localEngine = DaemonEngine.make({
  name: "local",
  options: {},
  layer: ({ directory, environmentPrefix }) =>
    LocalProvisioner.layer({
      directory: join(directory, "workspaces"),
      agent: { command: [process.execPath, fileURLToPath(import.meta.resolve("@atelier/agent/main"))], environmentPrefix }
    })
})
