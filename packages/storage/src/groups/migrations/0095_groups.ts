import { Effect } from "effect"
import { ddl } from "../../platform/Schema.js"
import { Statements } from "../../platform/Statements.js"

/** The end of a membership of an organization ends those of its groups, whatever ends it and whatever is added concurrently. */
const leaveGroups = Effect.flatMap(Statements, (sql) =>
  sql.dialect({
    postgres: () =>
      ddl(
        `CREATE FUNCTION leave_groups() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          DELETE FROM group_members WHERE user_id = OLD.user_id
            AND group_id IN (SELECT id FROM groups WHERE organization_id = OLD.organization_id);
          RETURN NULL;
        END $$`,
        `CREATE TRIGGER organization_members_leave_groups AFTER DELETE ON organization_members
          FOR EACH ROW EXECUTE FUNCTION leave_groups()`
      ),
    sqlite: () =>
      ddl(
        `CREATE TRIGGER organization_members_leave_groups AFTER DELETE ON organization_members BEGIN
          DELETE FROM group_members WHERE user_id = OLD.user_id
            AND group_id IN (SELECT id FROM groups WHERE organization_id = OLD.organization_id);
        END`
      )
  })
)

/** The indexes of groups: the order of their pages, and a name in any case. */
export default Effect.zipRight(
  ddl(`CREATE INDEX groups_in_order ON groups (organization_id, lower(name), id)`, `CREATE INDEX groups_by_name ON groups (lower(name))`),
  leaveGroups
)
