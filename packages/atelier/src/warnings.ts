/** What an operator may have meant otherwise. */
import { type Configuration, isSet, policyAddition, valueOf } from "@atelier/core/deployment"

/** Options of the address that serves TLS. */
const servingTls: ReadonlyArray<string> = [
  "tls-address",
  "tls-cert-file",
  "tls-key-file",
  "tls-client-ca-file",
  "tls-client-auth",
  "tls-min-version",
  "tls-ciphers",
  "tls-allow-insecure-ciphers",
  "tls-redirect-http-to-https"
]

/** What an operator is told at the start about options that do nothing, or less than their names promise. */
export const warningsOf = (configuration: Configuration): ReadonlyArray<string> => {
  const nameOf = (flag: string) => configuration.resolved.get(flag)?.name ?? flag
  const set = Object.entries(configuration.definitions).filter(([flag]) => isSet(configuration, flag))
  const isPlain = !valueOf(configuration, "tls-enable")
  const ineffective = set.flatMap(([flag, { unused }]) =>
    unused === true
      ? `${nameOf(flag)} has no effect in this product`
      : isPlain && servingTls.includes(flag)
        ? `${nameOf(flag)} has no effect without --tls-enable`
        : []
  )
  const unreadable = valueOf(configuration, "additional-csp-policy").filter((entry) => policyAddition(entry) === undefined)
  return [
    // A deprecated name of an option that is set counts as set too
    ...new Set(ineffective),
    ...unreadable.map((entry) => `${nameOf("additional-csp-policy")} has no effect for "${entry}", which is no directive with sources`),
    ...(valueOf(configuration, "provisioner-daemons") < 0
      ? [`${nameOf("provisioner-daemons")} is negative: no job runs on this server`]
      : [])
  ]
}
