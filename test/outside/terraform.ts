/** The real Terraform of this machine, with the provider that `scripts/terraform-provider.mjs` builds. */
import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

const runs = (program: string): boolean => {
  try {
    execFileSync(program, ["version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

const configuration = fileURLToPath(new URL("../../node_modules/.cache/terraform/terraformrc", import.meta.url))

/** Why tests with the real Terraform are skipped; undefined if they run. */
export const missing: string | undefined = !runs("terraform")
  ? "there is no terraform on the PATH"
  : existsSync(configuration)
    ? undefined
    : "the provider is missing: run scripts/terraform-provider.mjs"

export const environment: Readonly<Record<string, string | undefined>> = { ...process.env, TF_CLI_CONFIG_FILE: configuration }

/** Whether all recorded templates run, with their builds. */
export const isComplete = process.env["TERRAFORM_TEMPLATES"] === "all"
