import { Effect } from "effect"
import { ddl } from "../../platform/Schema.js"
import { Statements } from "../../platform/Statements.js"

/**
 * Columns of PostgreSQL by which an index finds the agents that are connected without reading all others: see the migration 0611.
 *
 * PostgreSQL writes every index of a row anew whose indexed columns change, and agents give a sign of life every few seconds. So the index has the
 * number of the ten minutes of the last sign, which changes seldom. A trigger keeps it, because servers of the version before write signs of
 * life too. With the first sign it copies the job, so that a list of workspaces need not read the resource. The columns stay empty for agents without
 * a sign since: an agent that is connected gives the next one within seconds, so no row is rewritten here.
 */
const postgres = ddl(
  `ALTER TABLE workspace_agents ADD COLUMN seen_in integer, ADD COLUMN seen_job_id uuid`,
  `CREATE FUNCTION workspace_agents_seen() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    NEW.seen_in := floor(extract(epoch FROM NEW.last_connected_at) / 600);
    IF NEW.seen_in IS NOT NULL AND (NEW.seen_job_id IS NULL OR NEW.resource_id IS DISTINCT FROM OLD.resource_id) THEN
      SELECT r.job_id INTO NEW.seen_job_id FROM workspace_resources r WHERE r.id = NEW.resource_id;
    END IF;
    RETURN NEW;
  END $$`,
  `CREATE TRIGGER workspace_agents_seen BEFORE INSERT OR UPDATE OF last_connected_at, resource_id ON workspace_agents
    FOR EACH ROW EXECUTE FUNCTION workspace_agents_seen()`
)

export default Effect.flatMap(Statements, (sql) => sql.dialect({ postgres: () => postgres, sqlite: () => Effect.void }))
