export * as KubernetesProvisioner from "./KubernetesProvisioner.js"
