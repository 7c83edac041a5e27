import { journey } from "./journey.js"
import { postgresDatabase } from "./Steps.js"

journey("PostgreSQL", postgresDatabase)
