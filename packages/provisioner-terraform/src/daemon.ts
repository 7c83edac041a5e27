/** The engine on the command line of the daemon's program. */
import { DaemonEngine } from "@atelier/provisioner/daemon"
import { join } from "node:path"
import * as TerraformProvisioner from "./TerraformProvisioner.js"

export const engine = DaemonEngine.make({
  name: "terraform",
  options: {
    binary: { type: "file", value: "FILE", description: "the program; by default the first terraform or tofu on the PATH" },
    environment: {
      type: "texts",
      value: "NAME",
      description: "a variable of the environment that Terraform is given too, such as AWS_*; may be repeated"
    },
    "plan-timeout": { type: "seconds", value: "SECONDS", description: "how long an import or a plan may take; 600 by default" }
  },
  layer: ({ directory, environment, options }) =>
    TerraformProvisioner.layer({
      directory: join(directory, "terraform"),
      binary: options.binary,
      environment: TerraformProvisioner.variablesNamed(options.environment, environment),
      planTimeout: options["plan-timeout"]
    })
})
