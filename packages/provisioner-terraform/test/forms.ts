/** What forms, tags and presets of Terraform's language are evaluated with in tests. */
import { Effect } from "effect"
import { loadModules } from "../src/ModuleTree.js"

export type Files = Readonly<Record<string, string>>
export type Texts = Readonly<Record<string, string>>

const bytesOf = (given: Files) => new Map(Object.entries(given).map(([path, text]) => [path, new TextEncoder().encode(text)]))

/** The modules of a template, and those of the archive that its import has stored. */
export const sourceOf = (given: Files, downloaded: Files = {}) => Effect.runPromise(loadModules(bytesOf(given), bytesOf(downloaded)))

const id = "018f0000-0000-7000-8000-000000000000"

export const inputOf = (inputs: Texts, variables: Texts = {}) => ({
  metadata: {
    access_url: "https://dev.example.com",
    transition: "start" as const,
    workspace_id: id as never,
    workspace_name: "default",
    workspace_build_id: id as never,
    owner_id: id as never,
    owner_username: "ada",
    owner_name: "Ada Lovelace",
    owner_email: "ada@example.com",
    owner_login_type: "password",
    owner_groups: ["Everyone", "crew"],
    owner_rbac_roles: [{ name: "owner", org_id: "" }],
    owner_ssh_public_key: "ssh-ed25519 AAAA",
    template_id: id as never,
    template_name: "t",
    template_version: "v"
  },
  variables: Object.entries(variables).map(([name, value]) => ({ name, value, sensitive: false })),
  parameters: Object.entries(inputs).map(([name, value]) => ({ name, value }))
})
