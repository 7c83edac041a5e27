import { Duration, Effect } from "effect"
import { TemplateRepository } from "./TemplateRepository.js"

/** Counts active users and build times of templates. templates-and-provisioning.md §2.1. */
export const templateStatistics = {
  name: "template_statistics",
  every: Duration.hours(1),
  run: Effect.flatMap(TemplateRepository, ({ refreshStatistics }) => refreshStatistics)
}
