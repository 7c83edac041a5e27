/** What forms, tags and presets of Terraform's language are evaluated with in tests. */
import { makeModules } from "../../src/terraform/Root.js"

export type Files = Readonly<Record<string, string>>
export type Texts = Readonly<Record<string, string>>

export const sourceOf = (given: Files) => {
  const files = new Map(Object.entries(given).map(([path, text]) => [path, new TextEncoder().encode(text)]))
  return { files, modules: makeModules(files) }
}

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
