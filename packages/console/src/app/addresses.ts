/** Whether a browser that shows the page `base` asks this service for an address. Browsers drop tabs and take backslashes for slashes. */
export const isOfService = (address: string, service: string, base: string): boolean =>
  URL.canParse(address, base) && new URL(address, base).origin === new URL(`${service}/`, base).origin

/**
 * Whether an address is one of this service's own icons. A picture at another address of the service would be a request with the reader's session,
 * such as to an app of a workspace.
 */
export const isOwnIcon = (address: string, service: string, base: string): boolean =>
  isOfService(address, service, base) && new URL(address, base).pathname.startsWith(new URL(`${service}/icon/`, base).pathname)
