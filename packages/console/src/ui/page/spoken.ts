/** Names of the interface as people read them. */

/** Words that are not written in small letters. */
const written: Readonly<Record<string, string>> = {
  acl: "ACL",
  ai: "AI",
  aibridge: "AI bridge",
  api: "API",
  id: "ID",
  idp: "IdP",
  idpsync: "IdP sync",
  ip: "IP",
  oauth2: "OAuth2",
  oidc: "OIDC",
  rbac: "RBAC",
  scim: "SCIM",
  ssh: "SSH",
  ttl: "TTL",
  url: "URL"
}

/** A name of the interface, such as `idpsync_settings`, in words. */
export const spoken = (name: string): string =>
  name
    .split("_")
    .map((word) => (Object.hasOwn(written, word) ? written[word] : word))
    .join(" ")
