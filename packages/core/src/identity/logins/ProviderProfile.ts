/** The names and pictures that follow from a provider's texts. Everything here is pure. identity.md §7.2, §7.3. */
import { maximumLength } from "../../platform/texts/Name.js"
import { isUsername } from "../users/User.js"

/** The name a new user gets, from what the provider calls it and its address; undefined where neither makes one. */
export const usernameFrom = (claimed: string, email: string): string | undefined => {
  if (isUsername(claimed)) return claimed
  const source = claimed === "" ? email : claimed
  const at = source.lastIndexOf("@")
  const name = (at < 0 ? source : source.slice(0, at)).replace(/[^A-Za-z0-9-]/g, "")
  return isUsername(name) ? name : undefined
}

/** A name with a suffix of letters and digits, shortened to make room for it. */
export const suffixed = (name: string, suffix: string): string =>
  `${name.slice(0, maximumLength - suffix.length - 1).replace(/-+$/, "")}-${suffix}`

/** UTF-8 bytes of a full name. */
const maximumNameBytes = 128

/** A full name as it may be stored: one line without control characters, trimmed, cut between characters. */
export const fullNameFrom = (claimed: string): string => {
  const encoder = new TextEncoder()
  let name = ""
  let size = 0
  // Halves of surrogate pairs are not text, and no store keeps them
  for (const character of claimed.replace(/[\p{Cc}\p{Cs}]+/gu, " ").trim()) {
    size += encoder.encode(character).length
    if (size > maximumNameBytes) break
    name += character
  }
  return name.trim()
}

/** Characters of the address of a picture. */
const maximumAvatarLength = 2048

/** The address of a picture on the web; empty for anything else. */
export const avatarFrom = (claimed: string): string =>
  claimed.length <= maximumAvatarLength && URL.canParse(claimed) && /^https?:$/.test(new URL(claimed).protocol) ? new URL(claimed).href : ""
