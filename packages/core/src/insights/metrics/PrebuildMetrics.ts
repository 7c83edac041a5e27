/** How many workspaces are kept ready, and what becomes of them. templates-and-provisioning.md §5.3. */
import { scheduledInstances } from "../../provisioning/engines/PrebuildSchedule.js"
import * as Timestamp from "../../platform/time/Timestamp.js"
import { gauges, type Labels, type MetricFamily, totals } from "./MetricFamily.js"
import type { MeasuredPreset } from "./MetricsRepository.js"

/** Values of presets of one name, added up over the versions of its template. */
const ofPresets = (presets: ReadonlyArray<MeasuredPreset>, value: (preset: MeasuredPreset) => number) => {
  const sums = new Map<string, [Labels, number]>()
  for (const preset of presets) {
    const { organization_name, preset_name, template_name } = preset
    const labels = { template_name, preset_name, organization_name }
    const key = JSON.stringify(labels)
    const sum = sums.get(key)
    if (sum === undefined) sums.set(key, [labels, value(preset)])
    else sum[1] += value(preset)
  }
  return Array.from(sums.values())
}

/** The families of prebuilt workspaces; `prefix` is that of the product's names. */
export const prebuildFamilies = (
  prefix: string,
  presets: ReadonlyArray<MeasuredPreset>,
  isPaused: boolean,
  now: Timestamp.Timestamp
): ReadonlyArray<MetricFamily> => {
  const name = (suffix: string) => `${prefix}prebuilt_workspaces_${suffix}`
  const active = presets.filter(({ is_active }) => is_active)
  const hasStatus = (status: MeasuredPreset["status"]) => ofPresets(active, (preset) => (preset.status === status ? 1 : 0))
  return [
    totals(
      name("created_total"),
      "Prebuilt workspaces that were created.",
      ofPresets(presets, ({ created }) => created)
    ),
    totals(
      name("failed_total"),
      "Prebuilt workspaces whose first build failed.",
      ofPresets(presets, ({ failed }) => failed)
    ),
    totals(
      name("claimed_total"),
      "Prebuilt workspaces that users have claimed.",
      ofPresets(presets, ({ claimed }) => claimed)
    ),
    gauges(
      name("desired"),
      "Prebuilt workspaces that the preset wants now.",
      ofPresets(active, ({ desired, policy }) => scheduledInstances(policy, desired, now))
    ),
    gauges(
      name("running"),
      "Prebuilt workspaces that run and wait for an owner.",
      ofPresets(active, ({ running }) => running)
    ),
    gauges(
      name("eligible"),
      "Prebuilt workspaces that can be claimed.",
      ofPresets(active, ({ eligible }) => eligible)
    ),
    gauges(name("preset_hard_limited"), "Whether a preset makes no workspaces because too many have failed.", hasStatus("hard_limited")),
    gauges(name("preset_validation_failed"), "Whether a preset makes no workspaces because it is refused.", hasStatus("validation_failed")),
    gauges(name("reconciliation_paused"), "Whether no prebuilt workspaces are made and deleted.", [[{}, isPaused ? 1 : 0]]),
    gauges(name("metrics_last_updated"), "When these values were read, in seconds since 1970.", [
      [{}, Math.floor(Timestamp.toMillis(now) / 1000)]
    ])
  ]
}
