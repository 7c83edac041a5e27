/** Suites that play conversations with the real Terraform, in the dialect of existing clients. */
import { TerraformProvisioner } from "@atelier/provisioner-terraform"
import { Effect, Layer } from "effect"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeAll, describe } from "vitest"
import { aTar } from "../../../../../test/records/archives.js"
import { anExternalProvider } from "../../../../../test/records/externalAuth.js"
import { makePlayer } from "../../../../../test/http/scenarios.js"
import { describeInterface } from "../../../../../test/http/server.js"
import { environment, missing } from "../../../../../test/outside/terraform.js"

type Play = Awaited<ReturnType<typeof makePlayer>>

const externalAuthProviders = [
  { id: "artifacts", type: "jfrog", display_name: "Artifacts" },
  { id: "chat", type: "slack", display_name: "Slack" },
  { id: "git", type: "gitlab", display_name: "GitLab" },
  { id: "primary-github", type: "github", display_name: "GitHub" }
].map((provider) => ({ ...anExternalProvider(provider.id), ...provider, display_icon: `/icon/${provider.type}.svg` }))

const provisioner = Layer.unwrapEffect(
  Effect.sync(() => TerraformProvisioner.layer({ environment, directory: mkdtempSync(join(tmpdir(), "terraform-outcomes-")) }))
)

/** Conversations with one server. Skipped where Terraform or its provider is missing. */
export const describeTerraform = (name: string, define: (play: Play) => void): void => {
  describe.skipIf(missing !== undefined)(`with Terraform${missing === undefined ? "" : ` (skipped: ${missing})`}`, () => {
    describeInterface(
      name,
      (server) => {
        let player: Play
        beforeAll(async () => {
          player = await makePlayer({
            url: server().url,
enter: server().aPerson,
            header: "Coder-Session-Token",
            source: (template) => aTar(typeof template === "string" ? {} : template),
            // A busy machine takes long for a command
            patience: { interval: 200, longest: 200, timeout: 240_000 }
          })
        })
        define((conversation) => player(conversation))
      },
      {
        empty: true,
        compatibility: "coder",
        // The recordings were made without a license, but workspaces with external agents were made
        entitlements: { has: (feature) => feature === "workspace_external_agent" },
        options: { externalAuthProviders },
        provisioner,
        logLevel: "error"
      }
    )
  })
}
