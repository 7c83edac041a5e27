// Runs the program of this checkout, which keeps what it stores here unless an option names another place.
import { fileURLToPath } from "node:url"

process.env.ATELIER_DATA_DIRECTORY ??= fileURLToPath(new URL("..", import.meta.url))
await import("../packages/atelier/dist/program.js")
