/** The options of this program itself, next to those of the library. */
import type { Definition } from "@atelier/core/deployment"

const database = { name: "Storage", yaml: "storage" }
const program = { name: "Program", yaml: "program" }

export const ownDefinitions = {
  "data-directory": {
    name: "Data Directory",
    type: "string",
    description:
      "The directory of the database and the workspaces, made for its owner alone; without it, atelier in $XDG_DATA_HOME or ~/.local/share.",
    group: database,
    yaml: "dataDirectory"
  },
  database: {
    name: "Database",
    type: "string",
    description: "The database: sqlite:FILE or postgres://…; without it, atelier.db in the data directory.",
    group: database,
    // The URL may hold a password
    secret: true,
    yaml: "database"
  },
  engines: {
    name: "Engines",
    type: "string-array",
    description:
      "The engines that build templates in this server: local runs workspaces as processes of this machine, docker in containers of it, terraform runs Terraform, kubernetes runs Pods of a cluster.",
    default: "local,terraform",
    group: program,
    yaml: "engines"
  },
  "mcp-disable": {
    name: "MCP Disable",
    type: "bool",
    description: "Do not serve tools for clients of the Model Context Protocol at /mcp.",
    group: program,
    yaml: "mcpDisable"
  },
  "console-disable": {
    name: "Console Disable",
    type: "bool",
    description: "Do not serve the web console; the pages to sign in on stay.",
    group: program,
    yaml: "consoleDisable"
  },
  "ssh-address": {
    name: "SSH Address",
    type: "string",
    description:
      "The address, as HOST:PORT, at which SSH clients of users log in to their workspaces with their public keys; without it, nowhere.",
    group: program,
    yaml: "sshAddress"
  },
  "workspaces-directory": {
    name: "Workspaces Directory",
    type: "string",
    description: "The directory of the local engine's workspaces; without it, workspaces in the data directory.",
    group: database,
    yaml: "workspacesDirectory"
  },
  "kubernetes-agent-url": {
    name: "Kubernetes Agent URL",
    type: "string",
    description: "Where agents in Pods reach the server; without it, the access URL.",
    group: program,
    yaml: "kubernetesAgentUrl"
  },
  "kubernetes-kubeconfig": {
    name: "Kubernetes Kubeconfig",
    type: "string",
    description: "The kubeconfig of the cluster; without it, KUBECONFIG, ~/.kube/config or the account of the Pod that the server runs in.",
    group: program,
    yaml: "kubernetesKubeconfig"
  },
  "kubernetes-namespace": {
    name: "Kubernetes Namespace",
    type: "string",
    description: "The namespace of the workspaces, which has to exist; without it, that of the kubeconfig's context.",
    group: program,
    yaml: "kubernetesNamespace"
  },
  "kubernetes-options-file": {
    name: "Kubernetes Options File",
    type: "string",
    description: "A YAML file with further options of the Kubernetes engine.",
    group: program,
    yaml: "kubernetesOptionsFile"
  },
  "kubernetes-runtime-image": {
    name: "Kubernetes Runtime Image",
    type: "string",
    description: "The image with the agent and its Node, from which each Pod copies them.",
    group: program,
    yaml: "kubernetesRuntimeImage"
  },
  "terraform-binary": {
    name: "Terraform Binary",
    type: "string",
    description: "The terraform or tofu program that builds Terraform templates; without it, the first of both on the PATH.",
    group: program,
    yaml: "terraformBinary"
  },
  "terraform-directory": {
    name: "Terraform Directory",
    type: "string",
    description:
      "The directory of Terraform's jobs and of the cache of providers, for one server alone; without it, one in that of the workspaces.",
    group: database,
    yaml: "terraformDirectory"
  },
  "terraform-environment": {
    name: "Terraform Environment",
    type: "string-array",
    description:
      "Names of environment variables of this server that Terraform is given too, such as AWS_* for the credentials of a cloud. Templates can read them.",
    group: program,
    yaml: "terraformEnvironment"
  },
  "terraform-import-timeout": {
    name: "Terraform Import Timeout",
    type: "duration",
    description: "How long an import or a dry run may take with Terraform; then it is ended.",
    default: "5m",
    group: program,
    yaml: "terraformImportTimeout"
  },
  "terraform-plan-timeout": {
    name: "Terraform Plan Timeout",
    type: "duration",
    description: "How long the plan of a build may take with Terraform; then it is ended.",
    default: "10m",
    group: program,
    yaml: "terraformPlanTimeout"
  },
  "terraform-apply-timeout": {
    name: "Terraform Apply Timeout",
    type: "duration",
    description: "How long an apply of Terraform may take; then it is ended.",
    default: "3h",
    group: program,
    yaml: "terraformApplyTimeout"
  },
  "terraform-memory": {
    name: "Terraform Memory",
    type: "int",
    description: "MiB of memory that a command of Terraform may use with all that it starts; then it is ended.",
    default: "2048",
    least: 1,
    group: program,
    yaml: "terraformMemory"
  },
  "terraform-cpu-time": {
    name: "Terraform CPU Time",
    type: "duration",
    description: "Processor time that the commands of a job of Terraform may use with all that they start; then it is ended.",
    default: "30m",
    group: program,
    yaml: "terraformCpuTime"
  },
  "terraform-processes": {
    name: "Terraform Processes",
    type: "int",
    description: "Processes of a command of Terraform that may run at once; then it is ended.",
    default: "256",
    least: 1,
    group: program,
    yaml: "terraformProcesses"
  },
  "terraform-output": {
    name: "Terraform Output",
    type: "int",
    description: "MiB that a command of Terraform may print into the log of its job; then it is ended.",
    default: "16",
    least: 1,
    group: program,
    yaml: "terraformOutput"
  },
  "terraform-state": {
    name: "Terraform State",
    type: "int",
    description: "MiB that a state of Terraform, a saved plan, and each of them as JSON may have; a job with more fails.",
    default: "32",
    least: 1,
    group: program,
    yaml: "terraformState"
  },
  "terraform-disk": {
    name: "Terraform Disk",
    type: "int",
    description: "MiB that the folder of a job of Terraform may take on the disk; then it is ended.",
    default: "2048",
    least: 1,
    group: program,
    yaml: "terraformDisk"
  },
  "terraform-control-group": {
    name: "Terraform Control Group",
    type: "string",
    description:
      "The directory of a control group of version 2 in which each command of Terraform gets one of its own, or none; without it, groups are made below that of this server where it may.",
    group: program,
    yaml: "terraformControlGroup"
  },
  "terraform-user": {
    name: "Terraform User",
    type: "string",
    description:
      "The user that Terraform runs as, as UID:GID, so that templates read neither files nor the environment of this server, which has to be root.",
    group: program,
    yaml: "terraformUser"
  },
  "terraform-docker-image": {
    name: "Terraform Docker Image",
    type: "string",
    description:
      "An image with terraform or tofu, in containers of which each command of Terraform runs, so that templates reach nothing of this server; without it, Terraform runs as a process.",
    group: program,
    yaml: "terraformDockerImage"
  },
  "terraform-docker-host": {
    name: "Terraform Docker Host",
    type: "string",
    description:
      "The socket of the Docker daemon of this machine for the containers of Terraform; without it, unix:///var/run/docker.sock.",
    group: program,
    yaml: "terraformDockerHost"
  },
  "terraform-docker-network": {
    name: "Terraform Docker Network",
    type: "string",
    description: "The network of the containers of Terraform: bridge, host, none, or the name of one of the daemon; without it, bridge.",
    group: program,
    yaml: "terraformDockerNetwork"
  },
  "docker-host": {
    name: "Docker Host",
    type: "string",
    description:
      "The Docker daemon of the docker engine: unix:///path, tcp://host:port or ssh://user@host; without it, unix:///var/run/docker.sock.",
    group: program,
    yaml: "dockerHost"
  },
  "docker-tls-directory": {
    name: "Docker TLS Directory",
    type: "string",
    description: "A directory with ca.pem, cert.pem and key.pem, for a Docker daemon that is reached by TLS.",
    group: program,
    yaml: "dockerTlsDirectory"
  },
  "docker-deployment": {
    name: "Docker Deployment",
    type: "string",
    description: "Tells the containers of this server from those of another one at the same Docker daemon.",
    default: "default",
    group: program,
    yaml: "dockerDeployment"
  },
  "docker-agent-url": {
    name: "Docker Agent URL",
    type: "string",
    description: "Where containers reach this server; without it, the access URL, with another host where that is this machine.",
    group: program,
    yaml: "dockerAgentURL"
  },
  "docker-network": {
    name: "Docker Network",
    type: "string",
    description:
      "The network of containers: bridge, host, or the name of a network of the daemon; without it, bridge where the daemon has one.",
    group: program,
    yaml: "dockerNetwork"
  },
  "docker-allow-privileged": {
    name: "Docker Allow Privileged",
    type: "bool",
    description: "Let templates ask for containers with all rights of the machine.",
    group: program,
    yaml: "dockerAllowPrivileged"
  },
  "docker-allowed-runtimes": {
    name: "Docker Allowed Runtimes",
    type: "string-array",
    description: "Runtimes that templates may name in place of the Docker daemon's default, such as runsc.",
    group: program,
    yaml: "dockerAllowedRuntimes"
  },
  "docker-default-limits": {
    name: "Docker Default Limits",
    type: "string-array",
    description: "Limits of containers whose template names none, such as cpus=2,memory=4Gi,disk=20Gi.",
    group: program,
    yaml: "dockerDefaultLimits"
  },
  "docker-maximum-limits": {
    name: "Docker Maximum Limits",
    type: "string-array",
    description:
      "Limits that no template may exceed, such as cpus=8,memory=16Gi,disk=100Gi,gpus=0, and image=10Gi for images that are built. A container without a limit and a default has the maximum.",
    group: program,
    yaml: "dockerMaximumLimits"
  },
  "docker-pids-limit": {
    name: "Docker PIDs Limit",
    type: "int",
    description: "The number of processes and threads that a container may have.",
    default: "4096",
    group: program,
    yaml: "dockerPidsLimit"
  },
  "docker-runtime": {
    name: "Docker Runtime",
    type: "string",
    description: "A directory with the agent's runtime, for containers of another architecture than this machine's.",
    group: program,
    yaml: "dockerRuntime"
  },
  "docker-registry-config": {
    name: "Docker Registry Config",
    type: "string",
    description:
      "The file that docker login writes, with credentials of registries; without it, config.json in DOCKER_CONFIG or ~/.docker.",
    group: program,
    yaml: "dockerRegistryConfig"
  },
  "docker-build-timeout": {
    name: "Docker Build Timeout",
    type: "duration",
    description: "How long the build of an image of a template may take with Docker.",
    default: "1h",
    group: program,
    yaml: "dockerBuildTimeout"
  },
  "docker-pull": {
    name: "Docker Pull",
    type: "string",
    description: "When images are pulled: missing for those that the daemon does not have, always for each start.",
    default: "missing",
    group: program,
    yaml: "dockerPull"
  },
  "oidc-client-secret-file": {
    name: "OIDC Client Secret File",
    type: "string",
    description: "A file with the client secret at the OpenID Connect provider.",
    group: program,
    yaml: "oidcClientSecretFile"
  },
  "oauth2-github-client-secret-file": {
    name: "OAuth2 GitHub Client Secret File",
    type: "string",
    description: "A file with the client secret at GitHub.",
    group: program,
    yaml: "githubClientSecretFile"
  },
  "drain-grace": {
    name: "Drain Grace",
    type: "duration",
    description: "How long requests are still served after SIGTERM, while /readyz answers 503 so that proxies use other servers.",
    default: "5s",
    group: program,
    yaml: "drainGrace"
  },
  "drain-timeout": {
    name: "Drain Timeout",
    type: "duration",
    description: "How long requests and sockets may then take to end.",
    default: "10s",
    group: program,
    yaml: "drainTimeout"
  },
  "shutdown-timeout": {
    name: "Shutdown Timeout",
    type: "duration",
    description: "How long the end may take after the grace time; what has not ended then is given up and logged.",
    default: "30s",
    group: program,
    yaml: "shutdownTimeout"
  },
  "database-statement-timeout": {
    name: "Database Statement Timeout",
    type: "duration",
    description: "How long a statement may run on PostgreSQL before it is ended and its request is answered 503.",
    default: "1m",
    group: program,
    yaml: "databaseStatementTimeout"
  },
  workers: {
    name: "Workers",
    type: "string",
    description:
      "How many processes serve the address, for machines with several cores; more than one need PostgreSQL. auto is one for each core, and one on SQLite.",
    default: "1",
    group: program,
    yaml: "workers"
  },
  "log-level": {
    name: "Log Level",
    type: "enum",
    description: "The least severe messages to log.",
    choices: ["debug", "info", "warning", "error"],
    default: "info",
    group: program,
    yaml: "logLevel"
  },
  compatibility: {
    name: "Compatibility",
    type: "string",
    description: "Support the clients of an ecosystem: coder sets brand, answers, reported version and a new deployment's organization.",
    group: program,
    yaml: "compatibility"
  },
  brand: {
    name: "Brand",
    type: "string",
    description:
      "The name on pages, in mail, and in the names of headers, cookies and variables; default: Atelier for people and Service in names, or as compatibility sets it.",
    group: program,
    yaml: "brand"
  }
} as const satisfies Readonly<Record<string, Definition>>

export type OwnFlag = keyof typeof ownDefinitions
