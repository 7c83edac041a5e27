/** An external provider that a template demands, for one user. templates-and-provisioning.md §3.4. */
import { Schema } from "effect"

export const ExternalAuthView = Schema.Struct({
  id: Schema.String,
  type: Schema.String,
  display_name: Schema.String,
  display_icon: Schema.String,
  /** Where the user signs in to the provider. */
  authenticate_url: Schema.String,
  authenticated: Schema.Boolean,
  optional: Schema.optional(Schema.Boolean)
})
export interface ExternalAuthView extends Schema.Schema.Type<typeof ExternalAuthView> {}
