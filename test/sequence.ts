import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Files that take at least ten seconds, the longest first. */
export const longest: ReadonlyArray<string> = [
  "packages/http/test/workspaces/Scenarios.test.ts",
  "packages/http/test/identity/Scenarios.test.ts",
  "examples/standalone/test/lifeCycleKills.test.ts",
  "examples/standalone/test/postgres.test.ts",
  "packages/http/test/templates/Prebuilds.test.ts",
  "packages/http/test/templates/Scenarios.test.ts",
  "test/pack.test.ts",
  "packages/http/test/templates/TerraformOutcomes.test.ts",
  "examples/standalone/test/sqlite.test.ts",
  "packages/http/test/deployment/ExternalAuth.test.ts",
  "packages/client/test/Streams.test.ts",
  "examples/standalone/test/processes.test.ts",
  "packages/http/test/oauth2/Chromium.test.ts",
  "packages/http/test/platform/Fuzz.test.ts",
  "packages/http/test/organizations/Deletions.test.ts",
  "packages/http/test/identity/EncryptionKeys.test.ts",
  "packages/http/test/identity/LoginSync.test.ts",
  "packages/http/test/notifications/Scenarios.test.ts",
  "packages/http/test/deployment/Scenarios.test.ts",
  "examples/embed-express/test/mount.test.ts",
  "packages/provisioner/test/terraform/Real.test.ts",
  "packages/http/test/network/Links.test.ts",
  "packages/http/test/audit/Scenarios.test.ts",
  "packages/provisioner/test/LocalProvisioner.test.ts",
  "packages/http/test/tasks/Scenarios.test.ts",
  "packages/storage/test/notifications/NotificationRepository.test.ts",
  "examples/standalone/test/browser.test.ts"
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
