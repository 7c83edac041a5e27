import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Files that take at least five seconds, or wait as long, the longest first. */
export const longest: ReadonlyArray<string> = [
  "test/pack.test.ts",
  "packages/provisioner-docker/test/Server.test.ts",
  "packages/provisioner-kubernetes/test/Server.test.ts",
  "test/registry.test.ts",
  "test/image.test.ts",
  "packages/atelier/test/partitions.test.ts",
  "packages/cli/test/CommandLine.test.ts",
  "packages/http/test/workspaces/prebuilds/PrebuildHandOvers.test.ts",
  "test/install.test.ts",
  "packages/http/test/workspaces/lifecycle/Expiry.test.ts",
  "packages/atelier/test/sqlite.test.ts",
  "packages/provisioner-terraform/test/Bounds.test.ts",
  "packages/http/test/workspaces/prebuilds/Prebuilds.test.ts",
  "packages/http/test/templates/Terraform.test.ts",
  "packages/http/test/oauth2/Chromium.test.ts",
  "packages/http/test/identity/Scenarios.test.ts",
  "packages/atelier/test/commands.test.ts",
  "packages/simulation/test/Histories.test.ts",
  "packages/http/test/workspaces/Scenarios.test.ts",
  "packages/provisioner-terraform/test/Real.test.ts",
  "packages/atelier/test/lifeCycleKills.test.ts",
  "packages/mcp/test/Mcp.test.ts",
  "packages/provisioner/test/local/LocalProvisioner.test.ts",
  "packages/atelier/test/workers.test.ts",
  "test/backup.test.ts",
  "packages/simulation/test/Defects.test.ts",
  "packages/http/test/identity/sync/LoginSync.test.ts",
  "packages/http/test/access/CrossTenant.test.ts",
  "packages/http/test/deployment/Scenarios.test.ts",
  "packages/http/test/templates/TerraformOutcomes.test.ts",
  "packages/atelier/test/proxy.test.ts",
  "packages/http/test/tasks/Scenarios.test.ts",
  "packages/http/test/identity/logins/OidcLogin.test.ts",
  "examples/embed-express/test/mount.test.ts",
  "packages/http/test/workspaces/prebuilds/PrebuildClaims.test.ts",
  "packages/http/test/templates/TerraformRules.test.ts",
  "packages/http/test/workspaces/views/List.test.ts",
  "packages/http/test/oauth2/tokens/Tokens.test.ts",
  "packages/http/test/network/Links.test.ts",
  "packages/http/test/notifications/Scenarios.test.ts",
  "packages/atelier/test/start.test.ts",
  "packages/http/test/templates/Scenarios.test.ts",
  "packages/http/test/sandboxes/SshReplicas.test.ts",
  "packages/atelier/test/browser.test.ts",
  "packages/http/test/sandboxes/Ssh.test.ts",
  "packages/atelier/test/sandboxKills.test.ts",
  "packages/http/test/provisioning/daemons/Daemons.test.ts",
  "packages/http/test/workspaces/builds/Builds.test.ts",
  "packages/http/test/organizations/Deletions.test.ts",
  "packages/http/test/identity/logins/ExternalLogins.test.ts",
  "packages/http/test/sandboxes/Exec.test.ts",
  "packages/http/test/groups/Groups.test.ts",
  "packages/http/test/organizations/CustomRoles.test.ts",
  "packages/http/test/workspaces/prebuilds/PrebuildReplicas.test.ts",
  "examples/embed-hono/test/mount.test.ts",
  "packages/http/test/sockets/Sockets.test.ts",
  "examples/embed-node/test/mount.test.ts",
  "packages/http/test/identity/secrets/EncryptionKeys.test.ts",
  "packages/http/test/sandboxes/SshGateway.test.ts",
  "packages/http/test/apps/PathApps.test.ts",
  "packages/http/test/identity/sessions/TokenScopes.test.ts",
  "packages/provisioner/test/engine/Archive.test.ts",
  "packages/http/test/identity/secrets/UserSecrets.test.ts",
  "packages/http/test/platform/Fuzz.test.ts",
  "packages/http/test/cluster/supervise.test.ts",
  "packages/agent-protocol/test/yamux/Session.test.ts",
  "packages/http/test/identity/passwords/Passcodes.test.ts"
]

/** Files of pages in a browser: it breaks its connections off when engines of containers give the machine another network, so they come last. */
const inBrowser = /\/packages\/console\/test\/(?:account|deployment|people|workspaces|Serving)\.test\.ts$/

/** Begins with the longest files: of one that begins last, the other workers would await the end. Without an earlier run, vitest knows only their sizes. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const place = ({ moduleId }: TestSpecification): number => {
      if (inBrowser.test(moduleId)) return longest.length + 1
      const index = longest.findIndex((path) => moduleId.endsWith(`/${path}`))
      return index < 0 ? longest.length : index
    }
    // oxlint-disable-next-line unicorn/no-array-sort -- it sorts no array in place
    const usual = await super.sort(files)
    return usual.toSorted((one, other) => place(one) - place(other))
  }
}
