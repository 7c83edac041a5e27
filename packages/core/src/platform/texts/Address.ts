/** Addresses that callers and templates give, and that browsers show or open for other users. */

/** A text without what repeats one character at its end. A regular expression would take quadratic time for repetitions within it. */
export const withoutTrailing = (character: string, text: string): string => {
  let end = text.length
  while (text[end - 1] === character) end--
  return text.slice(0, end)
}

/** A text without the slashes at its end. */
export const withoutTrailingSlashes = (text: string): string => withoutTrailing("/", text)

/** Schemes that run or show what the address itself holds, or what lies on the reader's machine. */
const unsafeSchemes = ["javascript:", "data:", "vbscript:", "blob:", "file:"]

/** Whether a browser reads the address as one of such a scheme. Browsers skip control characters, and spaces at the beginning. */
export const isUnsafeAddress = (address: string, schemes: ReadonlyArray<string> = unsafeSchemes): boolean => {
  const read = address.replace(/[\p{Cc} ]/gu, "").toLowerCase()
  return schemes.some((scheme) => read.startsWith(scheme))
}

/** Schemes that run or show what the address itself holds. A report may name a file of its own workspace. */
export const unsafeLinkSchemes = unsafeSchemes.filter((scheme) => scheme !== "file:")

/**
 * The rule that the address of a picture breaks. Any text is stored, as clients of the interface expect: pages load pictures of this service
 * only (`isLocalPicture`), and show a letter in place of others.
 */
export const pictureViolation = (address: string, maximum: number): string | undefined =>
  address.length > maximum ? `must be at most ${maximum} characters` : undefined

/**
 * Whether a page may load a picture: it is one of this service's own (`/icon/code.svg`, `/emojis/1f4bb.png`), or holds itself. At any other path
 * of the service it would be a request with the reader's session, such as to an app of a workspace.
 */
export const isLocalPicture = (address: string): boolean =>
  !/\p{Cc}/u.test(address) &&
  (/^\/(?:icon|emojis)\/[\w-]+\.\w+$/.test(address) || /^data:image\/(?:png|svg\+xml|jpeg|gif|webp)[;,]/.test(address))

/** Whether a host's name or address means the machine itself. */
export const isLoopbackHost = (host: string): boolean => {
  const bare = host.replace(/^\[|\]$/g, "").toLowerCase()
  return bare === "localhost" || bare.endsWith(".localhost") || bare === "::1" || /^127(?:\.\d{1,3}){3}$/.test(bare)
}
