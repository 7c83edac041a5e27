/** Trial licenses, which a host's issuer gives out. deployment.md §6. */
import { Context, type Effect, Schema } from "effect"
import type { Validation } from "../../platform/Errors.js"

/** What a person tells the issuer. */
export interface TrialRequest {
  readonly email: string
  readonly first_name: string
  readonly last_name: string
  readonly phone_number: string
  readonly job_title: string
  readonly company_name: string
  readonly country: string
  /** How many developers the company has, in the issuer's words. */
  readonly developers: string
}

/** A license as text, or why the issuer gives none. */
export const TrialAnswer = Schema.Union(Schema.Struct({ license: Schema.String }), Schema.Struct({ refused: Schema.String }))
export type TrialAnswer = typeof TrialAnswer.Type

/** The issuer of the host; none unless it gives one. */
export class TrialIssuer extends Context.Reference<TrialIssuer>()("@atelier/core/TrialIssuer", {
  defaultValue: (): ((request: TrialRequest) => Effect.Effect<TrialAnswer, unknown>) | undefined => undefined
}) {}

/** The least and the most characters of each field. */
const lengths: Readonly<Record<keyof TrialRequest, readonly [least: number, most: number]>> = {
  email: [3, 254],
  first_name: [1, 60],
  last_name: [1, 60],
  phone_number: [7, 20],
  job_title: [1, 255],
  company_name: [2, 100],
  country: [1, 255],
  developers: [1, 255]
}

/** The rules that a request breaks. */
export const trialViolations = (request: TrialRequest): ReadonlyArray<Validation> => {
  const broken: Array<Validation> = []
  for (const [field, [least, most]] of Object.entries(lengths)) {
    const text = String(Reflect.get(request, field))
    if (text === "") broken.push({ field, detail: "is required" })
    else if (text.length < least || text.length > most) broken.push({ field, detail: `must have ${least} to ${most} characters` })
    else if (field === "email" && !/^[^@\s]+@[^@\s]+$/.test(text)) broken.push({ field, detail: "must be an e-mail address" })
  }
  return broken
}
