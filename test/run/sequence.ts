import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Files that take at least seven seconds, the longest first. */
export const longest: ReadonlyArray<string> = [
  "test/pack.test.ts",
  "packages/atelier/test/sqlite.test.ts",
  "packages/http/test/workspaces/Scenarios.test.ts",
  "packages/atelier/test/lifeCycleKills.test.ts",
  "packages/http/test/templates/TerraformOutcomes.test.ts",
  "packages/http/test/workspaces/prebuilds/Prebuilds.test.ts",
  "packages/http/test/oauth2/Chromium.test.ts",
  "packages/http/test/templates/Terraform.test.ts",
  "packages/atelier/test/postgres.test.ts",
  "packages/provisioner-terraform/test/Real.test.ts",
  "packages/mcp/test/Mcp.test.ts",
  "packages/http/test/identity/Scenarios.test.ts",
  "packages/http/test/templates/TerraformRules.test.ts",
  "examples/embed-express/test/mount.test.ts",
  "packages/http/test/platform/Fuzz.test.ts",
  "packages/provisioner/test/local/LocalProvisioner.test.ts",
  "packages/atelier/test/browser.test.ts",
  "packages/atelier/test/proxy.test.ts",
  "packages/atelier/test/processes.test.ts",
  "examples/embed-next/test/mount.test.ts",
  "packages/http/test/identity/sync/LoginSync.test.ts",
  "packages/http/test/workspaces/prebuilds/PrebuildClaims.test.ts",
  "packages/http/test/tasks/Scenarios.test.ts",
  "packages/http/test/access/CrossTenant.test.ts",
  "examples/embed-fastify/test/mount.test.ts",
  "packages/http/test/deployment/Scenarios.test.ts",
  "packages/atelier/test/supervise.test.ts",
  "packages/http/test/templates/Scenarios.test.ts",
  "packages/http/test/notifications/Scenarios.test.ts",
  "packages/http/test/oauth2/tokens/Tokens.test.ts",
  "packages/http/test/identity/secrets/EncryptionKeys.test.ts",
  "packages/http/test/organizations/CustomRoles.test.ts",
  "test/seed.test.ts",
  "packages/atelier/test/pair.test.ts",
  "packages/http/test/provisioning/daemons/SilentDaemons.test.ts",
  "packages/agent/test/reports/Reports.test.ts"
]

/** Begins with the longest files: of one that begins last, the other workers would await the end. Without an earlier run, vitest knows only their sizes. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const place = ({ moduleId }: TestSpecification): number => {
      const index = longest.findIndex((path) => moduleId.endsWith(`/${path}`))
      return index < 0 ? longest.length : index
    }
    // oxlint-disable-next-line unicorn/no-array-sort -- it sorts no array in place
    const usual = await super.sort(files)
    return usual.toSorted((one, other) => place(one) - place(other))
  }
}
