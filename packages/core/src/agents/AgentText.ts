/** A text of an agent as both databases can store it: without NUL characters and lone surrogates. */
export const storable = (text: string): string => text.replaceAll(/\0|\p{Surrogate}/gu, "\ufffd")
