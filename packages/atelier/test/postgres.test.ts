import { lastingDatabaseUrl } from "../../../test/store/databases.js"
import { journey } from "./journey.js"

// With the wire format of existing clients
journey("PostgreSQL", lastingDatabaseUrl, ["--compatibility", "coder", "--allow-workspace-renames"])
