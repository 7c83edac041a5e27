/**
 * Builds the Terraform provider that the tests of Terraform templates use, from the module proxy, into `node_modules/.cache/terraform`, with a
 * configuration that lets Terraform take it from there. Does nothing without Go or Terraform: the tests that need it are skipped then.
 */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const version = "2.19.0"
/** Milliseconds; a slow build is given up. A clean clone is checked at the same time. */
const timeout = 300_000

const cache = fileURLToPath(new URL("../node_modules/.cache/terraform", import.meta.url))
const mirror = join(cache, "mirror")
const configuration = join(cache, "terraformrc")

const output = (program, ...options) => {
  try {
    return execFileSync(program, options, { encoding: "utf8", timeout, stdio: ["ignore", "pipe", "ignore"] }).trim()
  } catch {
    return undefined
  }
}

const platform = output("go", "env", "GOOS", "GOARCH")?.replace("\n", "_")
if (platform === undefined || output("terraform", "version") === undefined) {
  console.error("Go or Terraform is missing: the tests of Terraform templates are skipped.")
} else if (!existsSync(configuration)) {
  const folder = join(mirror, "registry.terraform.io/coder/coder", version, platform)
  mkdirSync(folder, { recursive: true })
  try {
    execFileSync("go", ["install", `github.com/coder/terraform-provider-coder/v2@v${version}`], {
      env: { ...process.env, GOBIN: cache, GOFLAGS: "-mod=mod" },
      timeout,
      stdio: "ignore"
    })
    renameSync(join(cache, "terraform-provider-coder"), join(folder, `terraform-provider-coder_v${version}`))
    writeFileSync(configuration, `provider_installation {\n  filesystem_mirror {\n    path = ${JSON.stringify(mirror)}\n  }\n}\n`)
  } catch (error) {
    rmSync(cache, { recursive: true, force: true })
    console.error(`The Terraform provider could not be built: ${error.message.split("\n")[0]}`)
  }
}
