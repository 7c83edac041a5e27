/** Whether a browser that shows the page `base` asks this service for an address. Browsers drop tabs and take backslashes for slashes. */
export const isOfService = (address: string, service: string, base: string): boolean =>
  URL.canParse(address, base) && new URL(address, base).origin === new URL(`${service}/`, base).origin

/**
 * Whether an address is one of this service's own icons. A picture at another address of the service would be a request with the reader's session,
 * such as to an app of a workspace.
 */
export const isOwnIcon = (address: string, service: string, base: string): boolean =>
  isOfService(address, service, base) && new URL(address, base).pathname.startsWith(new URL(`${service}/icon/`, base).pathname)

/** A picture at an address, or signs. */
export type Icon = { readonly address: string } | { readonly signs: string }

/**
 * An icon to show on the page `base`: signs, or a picture that this service or the address itself holds. Users give any text as the address
 * of a picture: other sites are not asked, and no other scheme is opened.
 */
export const iconAt = (icon: string | undefined, service: string, base: string): Icon | undefined => {
  if (icon === undefined || icon === "") return undefined
  const emoji = /^\/emojis\/([0-9a-f]+(?:-[0-9a-f]+)*)\.png$/i.exec(icon)?.[1]
  if (emoji !== undefined) {
    const points = emoji.split("-").map((point) => Number.parseInt(point, 16))
    return points.every((point) => point <= 0x10ffff) ? { signs: String.fromCodePoint(...points) } : undefined
  }
  if (icon.startsWith("/")) {
    const address = `${service}${icon}`
    return isOfService(address, service, base) ? { address } : undefined
  }
  return icon.startsWith("data:image/") ? { address: icon } : undefined
}
