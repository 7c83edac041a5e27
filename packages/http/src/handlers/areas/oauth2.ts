/** How this area's groups of endpoints are implemented. */
export { oauth2Provider as area } from "../oauth2Provider.js"
