/** Whether a browser that shows the page `base` asks this service for an address. Browsers drop tabs and take backslashes for slashes. */
export const isOfService = (address: string, service: string, base: string): boolean =>
  URL.canParse(address, base) && new URL(address, base).origin === new URL(`${service}/`, base).origin

/**
 * Whether an address is one of this service's own icons. A picture at another address of the service would be a request with the reader's session,
 * such as to an app of a workspace.
 */
const isOwnIcon = (address: string, service: string, base: string): boolean =>
  isOfService(address, service, base) && new URL(address, base).pathname.startsWith(new URL(`${service}/icon/`, base).pathname)

/** A picture at an address, or signs. */
export type Icon = { readonly address: string } | { readonly signs: string }

/**
 * An icon to show on the page `base`: an icon of the service at the path `service`, a picture that the address itself holds, or the signs of an emoji.
 * Users give any text as the address of a picture: no other address is asked for.
 */
export const iconAt = (icon: string | undefined, service: string, base: string): Icon | undefined => {
  if (icon === undefined || icon === "") return undefined
  const emoji = /^\/emojis\/([0-9a-f]+(?:-[0-9a-f]+)*)\.png$/i.exec(icon)?.[1]
  if (emoji !== undefined) {
    const points = emoji.split("-").map((point) => Number.parseInt(point, 16))
    return points.every((point) => point <= 0x10ffff) ? { signs: String.fromCodePoint(...points) } : undefined
  }
  if (icon.startsWith("data:image/")) return { address: icon }
  const address = `${service}${icon}`
  return icon.startsWith("/") && isOwnIcon(address, service, base) ? { address } : undefined
}
