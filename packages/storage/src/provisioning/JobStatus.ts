/** Conditions on the status of a job, generated from core's rules. */
import { type JobProgress, type JobStatus, jobStatusRules } from "@atelier/core/provisioning"

type Column = keyof JobProgress

const isFilled = (column: Column, prefix: string): string => `${prefix}${column} ${column === "error" ? "<> ''" : "IS NOT NULL"}`
const isEmpty = (column: Column, prefix: string): string => `${prefix}${column} ${column === "error" ? "= ''" : "IS NULL"}`

/**
 * The condition that a job has the status. `job` is the name of its table in the statement, if there are several. It has no parameters, and
 * compares single columns where it can, so that the databases find the partial indexes that it implies.
 */
export const jobIs = (status: JobStatus, job?: string): string => {
  const prefix = job === undefined ? "" : `${job}.`
  const index = jobStatusRules.findIndex((rule) => rule.status === status)
  const rule = jobStatusRules[index]
  if (rule === undefined) return "1 = 0"
  const earlier = jobStatusRules.slice(0, index).map(({ filled }) => `(${filled.map((column) => isEmpty(column, prefix)).join(" OR ")})`)
  return `(${[...rule.filled.map((column) => isFilled(column, prefix)), ...earlier].join(" AND ")})`
}
