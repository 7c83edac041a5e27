// What the Kubernetes engine uses of the cluster's client, as a script of its own.
export { KubeConfig } from "@kubernetes/client-node"
