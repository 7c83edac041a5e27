import { AtelierError } from "@atelier/client"

/** Makes a call, and names the flags in a refusal of their values in place of the fields that the service knows. */
export const asFlags = async <A>(flags: Readonly<Record<string, string>>, call: Promise<A>): Promise<A> => {
  try {
    return await call
  } catch (error) {
    if (!(error instanceof AtelierError)) throw error
    const { cause, detail, message, requestId, retryAfter, status } = error
    const validations = error.validations.map(({ detail: rule, field }) => ({ field: flags[field] ?? field, detail: rule }))
    throw new AtelierError({ cause, detail, message, requestId, retryAfter, status, validations })
  }
}
