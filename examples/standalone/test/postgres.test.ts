import { journey } from "./journey.js"
import { postgresDatabase } from "./Steps.js"

journey("PostgreSQL, compatible with existing clients", postgresDatabase, ["--compatibility", "coder", "--allow-workspace-renames"])
