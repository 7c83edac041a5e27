import type { Configuration } from "@atelier/core/deployment"
import { StartError } from "@atelier/core/platform"
import { hostConfiguration } from "@atelier/node"
import type { Names } from "../wire/Brand.js"
import type { Options } from "../Options.js"

/** Refuses TLS, which the host's server speaks. */
const refuseTls = (given: Readonly<Record<string, unknown>>): void => {
  if (given["tlsEnable"] !== true) return
  throw new StartError({ option: "options.tlsEnable", reason: "is for the standalone server: the server of the application serves TLS" })
}

/** The configuration in force. Throws `StartError` for an option that cannot be. */
export const configured = ({ accessUrl, configuration, options }: Options, { environmentPrefix, word }: Names): Configuration => {
  if (configuration !== undefined) return configuration
  refuseTls({ ...options })
  return hostConfiguration({ ...options, accessUrl }, { prefix: environmentPrefix.replace(/_$/, ""), brand: word })
}
