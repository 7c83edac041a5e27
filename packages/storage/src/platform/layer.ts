/** How this area is stored: its repositories and its migrations. */
import { layer as transactor } from "./store/Transactor.js"
import platform from "./migrations/0001_platform.js"

export const layer = transactor

export const migrations = { "0001_platform": platform }
