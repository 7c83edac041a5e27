import { ddl } from "../../platform/Schema.js"

/**
 * The AI budgets and spend of group members. An override is charged to a group that its user is in, and ends with that membership:
 * memberships of the group Everyone are those of the organization. Spend outlives the group it was charged to.
 */
export default ddl(
  `CREATE TABLE group_ai_budgets (
    group_id :uuid PRIMARY KEY REFERENCES groups (id) ON DELETE CASCADE,
    spend_limit_micros :bigint NOT NULL,
    created_at :timestamp NOT NULL,
    updated_at :timestamp NOT NULL
  )`,
  `CREATE TABLE user_ai_budget_overrides (
    user_id :uuid PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    group_id :uuid NOT NULL REFERENCES groups (id) ON DELETE CASCADE,
    organization_id :uuid NOT NULL,
    member_of_group_id :uuid,
    spend_limit_micros :bigint NOT NULL,
    created_at :timestamp NOT NULL,
    updated_at :timestamp NOT NULL,
    FOREIGN KEY (organization_id, user_id) REFERENCES organization_members (organization_id, user_id) ON DELETE CASCADE,
    FOREIGN KEY (member_of_group_id, user_id) REFERENCES group_members (group_id, user_id) ON DELETE CASCADE
  )`,
  `CREATE INDEX user_ai_budget_overrides_by_group ON user_ai_budget_overrides (group_id)`,
  `CREATE TABLE ai_spend (
    user_id :uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    group_id :uuid NOT NULL,
    organization_id :uuid NOT NULL,
    day TEXT NOT NULL,
    model TEXT NOT NULL,
    provider TEXT NOT NULL,
    provider_name TEXT NOT NULL,
    input_tokens :bigint NOT NULL,
    output_tokens :bigint NOT NULL,
    cache_read_tokens :bigint NOT NULL,
    cache_write_tokens :bigint NOT NULL,
    cost_micros :bigint NOT NULL,
    PRIMARY KEY (group_id, user_id, day, provider_name, provider, model)
  )`,
  `CREATE INDEX ai_spend_by_group ON ai_spend (group_id, day)`,
  `CREATE INDEX ai_spend_by_organization ON ai_spend (organization_id, day)`,
  `CREATE INDEX ai_spend_by_user ON ai_spend (user_id)`
)
