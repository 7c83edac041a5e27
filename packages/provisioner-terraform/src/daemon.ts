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
    "import-timeout": { type: "seconds", value: "SECONDS", description: "how long an import or a dry run may take; 300 by default" },
    "plan-timeout": { type: "seconds", value: "SECONDS", description: "how long the plan of a build may take; 600 by default" },
    "apply-timeout": { type: "seconds", value: "SECONDS", description: "how long an apply may take; 10800 by default" },
    memory: { type: "number", value: "MIB", description: "memory of a command with all that it starts; 2048 by default" },
    "cpu-time": { type: "seconds", value: "SECONDS", description: "processor time of a job; 1800 by default" },
    processes: { type: "number", value: "NUMBER", description: "processes of a command at once; 256 by default" },
    output: { type: "number", value: "MIB", description: "what a command may print into the log; 16 by default" },
    state: { type: "number", value: "MIB", description: "size of a state, a plan, and each as JSON; 32 by default" },
    disk: { type: "number", value: "MIB", description: "what the folder of a job may take on the disk; 2048 by default" },
    "control-group": {
      type: "text",
      value: "DIRECTORY",
      description: "the control group of version 2 to make those of commands in, or none; by default the daemon's own where it may"
    },
    user: { type: "text", value: "UID:GID", description: "whom Terraform runs as; the daemon has to be root" },
    "docker-image": { type: "text", value: "IMAGE", description: "runs Terraform in containers of this image" },
    "docker-host": { type: "text", value: "URL", description: "the socket of the Docker daemon; unix:///var/run/docker.sock by default" },
    "docker-network": { type: "text", value: "NETWORK", description: "of these containers; bridge by default" }
  },
  layer: ({ directory, environment, options }) =>
    TerraformProvisioner.layer({
      directory: join(directory, "terraform"),
      binary: options.binary,
      environment: TerraformProvisioner.variablesNamed(options.environment, environment),
      importTimeout: options["import-timeout"],
      planTimeout: options["plan-timeout"],
      applyTimeout: options["apply-timeout"],
      limits: {
        memory: options.memory,
        cpuTime: options["cpu-time"],
        processes: options.processes,
        output: options.output,
        state: options.state,
        disk: options.disk
      },
      controlGroup: options["control-group"],
      user: options.user,
      container: TerraformProvisioner.containerOptions(options["docker-image"], options["docker-host"], options["docker-network"])
    })
})
