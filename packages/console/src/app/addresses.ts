/** Whether a browser that shows the page `base` asks this service for an address. Browsers drop tabs and take backslashes for slashes. */
export const isOfService = (address: string, service: string, base: string): boolean =>
  URL.canParse(address, base) && new URL(address, base).origin === new URL(`${service}/`, base).origin
