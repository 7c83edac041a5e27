/** The reasons for which the server cannot be reached, in words for users. */

/** The codes of the system, its resolver and TLS; others are shown as they are. */
const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the host",
  ETIMEDOUT: "no answer from the host",
  ENOTFOUND: "host name not found",
  EAI_AGAIN: "host name not found",
  CERT_HAS_EXPIRED: "certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "certificate not trusted",
  SELF_SIGNED_CERT_IN_CHAIN: "certificate not trusted",
  UNABLE_TO_GET_ISSUER_CERT: "certificate not trusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "certificate not trusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "certificate not trusted",
  ERR_TLS_CERT_ALTNAME_INVALID: "certificate is for another host name"
}

const isError = (value: unknown): value is Error => value instanceof Error

/** Why a connection could not be made. Of a name with several addresses it is what failed at each of them. */
export const reasonOf = (error: Error): string => {
  if (error instanceof AggregateError && error.message === "") {
    const inner = new Set(error.errors.filter(isError).map(reasonOf))
    if (inner.size > 0) return Array.from(inner).join(", ")
  }
  const code = "code" in error && typeof error.code === "string" ? error.code : ""
  const reason = reasons[code] ?? code
  return [reason, error.message].filter((text) => text !== "").join(": ") || error.name
}

/** The server's address without what may be secret: a user name, a password, a query. */
export const addressOf = ({ origin, pathname }: URL): string => `${origin}${pathname.replace(/\/+$/, "")}`
