import { ddl } from "../../platform/Schema.js"

/** Old spend is found by its day. */
export default ddl(`CREATE INDEX ai_spend_by_day ON ai_spend (day)`)
