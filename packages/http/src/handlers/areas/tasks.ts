/** How this area's groups of endpoints are implemented. */
export { tasks as area } from "../tasks.js"
