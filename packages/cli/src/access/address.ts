/** The address of a service. */
import { usage } from "../Failure.js"

/** This machine, where services have no TLS. */
const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])(?=[:/]|$)/i

/** Reads an address as the user types it. Unless it says otherwise, it is one of `http` on this machine, and one of `https` elsewhere. */
export const readAddress = (given: string): string => {
  const usual = loopback.test(given) ? "http" : "https"
  const text = /^[a-z][a-z\d+.-]*:\/\//i.test(given) ? given : `${usual}://${given}`
  if (!URL.canParse(text)) throw usage(`url: "${given}" is not an address.`, "an address looks like https://dev.example.com.")
  const url = new URL(text)
  if (url.protocol !== "https:" && url.protocol !== "http:") throw usage(`url: "${given}" must begin with https:// or http://.`)
  if (url.username !== "" || url.password !== "") throw usage("url: must have no user name and no password.")
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`
}
