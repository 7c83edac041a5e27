import { join } from "node:path"
import { journey } from "./journey.js"

journey("SQLite", async (directory) => `sqlite:${join(directory, "atelier.db")}`)
