/** The engine on the command line of the daemon's program. */
import { DaemonEngine } from "@atelier/provisioner/daemon"
import * as DockerProvisioner from "./DockerProvisioner.js"

export const engine = DaemonEngine.make({
  name: "docker",
  options: {
    host: { type: "text", value: "URL", description: "of the Docker daemon; unix:///var/run/docker.sock by default" },
    "tls-directory": {
      type: "file",
      value: "DIRECTORY",
      description: "with ca.pem, cert.pem and key.pem, for a daemon that is reached by TLS"
    },
    deployment: { type: "text", value: "NAME", description: "tells these containers from those of another service; default by default" },
    "agent-url": { type: "text", value: "URL", description: "where containers reach the server" },
    network: { type: "text", value: "NETWORK", description: "bridge, host, or the name of a network of the daemon" },
    "allow-privileged": { type: "flag", value: "", description: "lets templates ask for all rights of the machine" },
    "pids-limit": { type: "number", value: "NUMBER", description: "processes and threads of a container; 4096 by default" },
    "allowed-runtime": { type: "texts", value: "NAME", description: "that templates may name in place of the default; may be repeated" },
    runtime: {
      type: "file",
      value: "DIRECTORY",
      description: "the agent's runtime, for containers of another architecture than this machine's"
    },
    "registry-config": { type: "file", value: "FILE", description: "that docker login writes; ~/.docker/config.json by default" },
    pull: { type: "text", value: "WHEN", description: "missing or always; missing by default" }
  },
  layer: ({ environmentPrefix, options }) =>
    DockerProvisioner.layer({
      host: options.host,
      tlsDirectory: options["tls-directory"],
      deployment: options.deployment,
      agentUrl: options["agent-url"],
      network: options.network,
      allowPrivileged: options["allow-privileged"],
      runtimes: options["allowed-runtime"],
      pidsLimit: options["pids-limit"],
      runtimeDirectory: options.runtime,
      registryConfig: options["registry-config"],
      pull: options.pull,
      environmentPrefix
    })
})
