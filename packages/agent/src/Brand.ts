/** The product's word in the names the agent reads and sends. architecture.md, "The wire". */

export interface Brand {
  /** Request header that carries the token. */
  readonly sessionHeader: string
  /** The word in the names of environment variables, without an underscore at the end; also the name of one itself. */
  readonly environmentName: string
}

/** Characters that a header's name may not hold (RFC 9110 §5.6.2) become a dash. */
const tokenOf = (word: string): string => word.trim().replace(/[^0-9A-Za-z]+/g, "-")

/** The environment variables' word of a product. */
export const environmentNameOf = (word: string): string => tokenOf(word).toUpperCase().replaceAll("-", "_")

/** A product's word from its environment variables'. Only its case is lost, to which header names are indifferent. */
export const wordOf = (environmentName: string): string =>
  environmentName
    .split("_")
    .map((part) => part.slice(0, 1) + part.slice(1).toLowerCase())
    .join("-")

export const make = (word: string, environmentName: string = environmentNameOf(word)): Brand => ({
  sessionHeader: `${tokenOf(word)}-Session-Token`,
  environmentName
})
