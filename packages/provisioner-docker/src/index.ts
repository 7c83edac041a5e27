export * as DockerProvisioner from "./DockerProvisioner.js"
