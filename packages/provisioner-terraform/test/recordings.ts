/** What Terraform 1.11.4 and the provider 2.19.0 printed for one template each. */
import { readFileSync } from "node:fs"

interface Recording {
  /** The lines of `terraform graph -type=plan`, without those of providers. */
  readonly graph: ReadonlyArray<string>
  /** `terraform show -json` of the plan, without what is not read. */
  readonly plan: unknown
  /** The same of a stop, without a state. */
  readonly "plan.import-stop"?: unknown
  /** `terraform show -json` after the apply. */
  readonly state?: unknown
}

export const recording = (name: string): Recording =>
  JSON.parse(readFileSync(new URL(`recordings/${name}.json`, import.meta.url), "utf8")) as Recording
