import { ddl } from "../../platform/Schema.js"

/** Providers of language models. Keys and settings are encrypted as one value. deployment.md §12.1. */
export default ddl(
  `CREATE TABLE ai_providers (
    id :uuid PRIMARY KEY,
    type TEXT NOT NULL,
    name TEXT NOT NULL,
    display_name TEXT NOT NULL,
    icon TEXT NOT NULL,
    enabled :boolean NOT NULL,
    base_url TEXT NOT NULL,
    created_at :timestamp NOT NULL,
    updated_at :timestamp NOT NULL,
    secrets_key_id TEXT NOT NULL,
    secrets :bytes NOT NULL
  )`,
  `CREATE UNIQUE INDEX ai_providers_name ON ai_providers (name)`
)
