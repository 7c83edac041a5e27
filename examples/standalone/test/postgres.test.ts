import { journey } from "./journey.js"
import { postgresDatabase } from "./Steps.js"

// With the wire format of existing clients
journey("PostgreSQL", postgresDatabase, ["--compatibility", "coder", "--allow-workspace-renames"])
