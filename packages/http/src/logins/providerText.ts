/** A text of a provider for a message or a log: one line of at most 200 characters. */
export const providerText = (text: unknown): string =>
  (typeof text === "string" ? text : "")
    .replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, " ")
    .trim()
    .slice(0, 200)
