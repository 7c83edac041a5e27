import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Files that take at least eight seconds beside others, the longest first, after those that wait most. */
export const longest: ReadonlyArray<string> = [
  "test/pack.test.ts",
  "packages/provisioner-docker/test/Server.test.ts",
  "packages/provisioner-kubernetes/test/Server.test.ts",
  "test/registry.test.ts",
  "test/image.test.ts",
  "packages/atelier/test/partitions.test.ts",
  "packages/provisioner-terraform/test/Bounds.test.ts",
  "packages/cli/test/CommandLine.test.ts",
  "packages/http/test/identity/Scenarios.test.ts",
  "packages/atelier/test/sqlite.test.ts",
  "packages/http/test/workspaces/Scenarios.test.ts",
  "packages/atelier/test/commands.test.ts",
  "packages/simulation/test/Defects.test.ts",
  "packages/http/test/oauth2/Chromium.test.ts",
  "packages/console/test/everyScreen.test.ts",
  "packages/console/test/templates.test.ts",
  "packages/console/test/terminal.test.ts",
  "packages/console/test/interrupted.test.ts",
  "packages/console/test/tasks.test.ts",
  "packages/console/test/journey.test.ts",
  "packages/http/test/workspaces/prebuilds/Prebuilds.test.ts",
  "packages/provisioner-docker/test/Kills.test.ts",
  "packages/http/test/templates/TerraformOutcomes.test.ts",
  "packages/provisioner-kubernetes/test/Kills.test.ts",
  "packages/http/test/access/CrossTenant.test.ts",
  "packages/provisioner-kubernetes/test/Workspaces.test.ts",
  "packages/provisioner-docker/test/Docker.test.ts",
  "packages/atelier/test/lifeCycleKills.test.ts",
  "packages/mcp/test/Mcp.test.ts",
  "packages/atelier/test/workers.test.ts",
  "packages/atelier/test/start.test.ts",
  "packages/http/test/identity/logins/OidcLogin.test.ts",
  "packages/provisioner/test/local/LocalProvisioner.test.ts",
  "packages/http/test/templates/Terraform.test.ts",
  "examples/embed-express/test/mount.test.ts",
  "packages/http/test/workspaces/prebuilds/PrebuildClaims.test.ts",
  "packages/atelier/test/proxy.test.ts",
  "packages/provisioner/test/container/Runtime.test.ts",
  "packages/http/test/cluster/supervise.test.ts",
  "packages/provisioner-terraform/test/TerraformProvisioner.test.ts",
  "packages/http/test/identity/sync/LoginSync.test.ts",
  "packages/provisioner-docker/test/Limits.test.ts",
  "packages/atelier/test/sandboxKills.test.ts",
  "packages/http/test/sandboxes/SshGateway.test.ts",
  "packages/http/test/notifications/Scenarios.test.ts",
  "packages/http/test/provisioning/daemons/SilentDaemons.test.ts",
  "packages/http/test/deployment/Scenarios.test.ts",
  "packages/provisioner-terraform/test/Real.test.ts",
  "packages/http/test/workspaces/lifecycle/LifeCycle.test.ts",
  "packages/http/test/templates/Scenarios.test.ts",
  "packages/simulation/test/Histories.test.ts",
  "examples/embed-next/test/mount.test.ts",
  "packages/http/test/server/operate/StoreFaults.test.ts",
  "packages/http/test/sandboxes/SshReplicas.test.ts",
  "packages/http/test/templates/TerraformRules.test.ts",
  "packages/provisioner-docker/test/Remote.test.ts",
  "examples/embed-fastify/test/mount.test.ts",
  "packages/provisioner-kubernetes/test/Remote.test.ts",
  "examples/embed-hono/test/mount.test.ts",
  "packages/http/test/insights/UsageModel.test.ts",
  "packages/provisioner-kubernetes/test/Namespaces.test.ts",
  "packages/http/test/tasks/Scenarios.test.ts",
  "test/backup.test.ts",
  "packages/provisioner-kubernetes/test/Rbac.test.ts",
  "packages/atelier/test/prometheus.test.ts",
  "packages/http/test/provisioning/daemons/StoreAway.test.ts",
  "packages/http/test/workspaces/prebuilds/PrebuildHandOvers.test.ts",
  "packages/node/test/NodeProfiler.test.ts",
  "packages/storage/test/sandboxes/MachineSessions.test.ts",
  "packages/storage-postgres/test/SharedWrites.test.ts",
  "examples/embed-node/test/mount.test.ts",
  "packages/http/test/provisioning/daemons/RemoteDaemons.test.ts",
  "packages/provisioner/test/template/TemplateSource.test.ts",
  "packages/http/test/sandboxes/Exec.test.ts",
  "packages/http/test/oauth2/tokens/Tokens.test.ts",
  "packages/atelier/test/browser.test.ts",
  "packages/http/test/provisioning/daemons/Daemons.test.ts",
  "packages/agent/test/machine/Exec.test.ts",
  "packages/atelier/test/pair.test.ts",
  "packages/agent/test/machine/Processes.test.ts",
  "packages/storage/test/agents/connections/AgentConnections.test.ts",
  "packages/http/test/platform/Fuzz.test.ts",
  "packages/http/test/deployment/licenses/Licenses.test.ts",
  "packages/atelier/test/postgres.test.ts",
  "packages/http/test/provisioning/engines/Engines.test.ts",
  "packages/http/test/workspaces/views/List.test.ts",
  "packages/http/test/sandboxes/Editors.test.ts",
  "packages/storage-postgres/test/SharedReads.test.ts",
  "test/install.test.ts",
  "packages/provisioner-docker/test/Images.test.ts",
  "packages/http/test/groups/Quotas.test.ts",
  "packages/storage/test/provisioning/JobClaims.test.ts",
  "packages/simulation/test/RealReplicas.test.ts",
  "examples/embed-effect/test/mount.test.ts",
  "packages/http/test/server/request/LargestBodies.test.ts",
  "packages/http/test/network/Links.test.ts",
  "packages/http/test/groups/Sharing.test.ts"
]

/** Files of pages in a browser: it breaks its connections off when engines of containers give the machine another network, so they come after them. */
const inBrowser = /\/packages\/console\/test\/(?:account|deployment|people|workspaces|Serving)\.test\.ts$/

/** Files that take a quarter of a second: they come last, where the other workers await the last one. */
const short = /\/packages\/core\/test\//

/** Begins with the longest files: of one that begins last, the other workers would await the end. Without an earlier run, vitest knows only their sizes. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const place = ({ moduleId }: TestSpecification): number => {
      const index = longest.findIndex((path) => moduleId.endsWith(`/${path}`))
      if (index >= 0) return index
      if (short.test(moduleId)) return longest.length + 2
      return longest.length + (inBrowser.test(moduleId) ? 1 : 0)
    }
    // oxlint-disable-next-line unicorn/no-array-sort -- it sorts no array in place
    const usual = await super.sort(files)
    return usual.toSorted((one, other) => place(one) - place(other))
  }
}
