/** The engine on the command line of the daemon's program. */
import { StartError } from "@atelier/core/platform"
import { DaemonEngine } from "@atelier/provisioner/daemon"
import { Either, Layer } from "effect"
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
    "default-limit": {
      type: "texts",
      value: "NAME=VALUE",
      description: "of containers whose template names none, such as memory=4Gi; may be repeated"
    },
    "maximum-limit": {
      type: "texts",
      value: "NAME=VALUE",
      description: "that no template may exceed, such as cpus=8 or image=10Gi; may be repeated"
    },
    "pids-limit": { type: "number", value: "NUMBER", description: "processes and threads of a container; 4096 by default" },
    "allowed-runtime": { type: "texts", value: "NAME", description: "that templates may name in place of the default; may be repeated" },
    runtime: {
      type: "file",
      value: "DIRECTORY",
      description: "the agent's runtime, for containers of another architecture than this machine's"
    },
    "registry-config": { type: "file", value: "FILE", description: "that docker login writes; ~/.docker/config.json by default" },
    "build-timeout": { type: "seconds", value: "SECONDS", description: "how long the build of an image may take; 3600 by default" },
    pull: { type: "text", value: "WHEN", description: "missing or always; missing by default" }
  },
  layer: ({ environmentPrefix, options }) => {
    const defaults = DockerProvisioner.defaultLimits(options["default-limit"])
    const maxima = DockerProvisioner.maximumLimits(options["maximum-limit"])
    if (Either.isLeft(defaults)) return Layer.fail(new StartError({ option: "docker.defaults", reason: defaults.left }))
    if (Either.isLeft(maxima)) return Layer.fail(new StartError({ option: "docker.maxima", reason: maxima.left }))
    return DockerProvisioner.layer({
      defaults: defaults.right,
      maxima: maxima.right,
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
      buildTimeout: options["build-timeout"],
      environmentPrefix
    })
  }
})
