/** The description of the service's SCIM interface (RFC 7643 §5–§7). */
import { maximumScimCount, scimUserSchema } from "@atelier/core/identity"
import type { ScimResourceType, ScimSchema, ScimServiceProviderConfig } from "../../contract/identity/scim.js"

type Attribute = (typeof ScimSchema.Type)["attributes"][number]

/** An attribute that a provider sends when it creates a user, and that only the service changes afterwards. */
const given = (name: string, description: string, more: Partial<Attribute> = {}): Attribute => ({
  name,
  type: "string",
  multiValued: false,
  description,
  required: false,
  mutability: "immutable",
  returned: "default",
  caseExact: false,
  uniqueness: "none",
  ...more
})

const complex = { type: "complex", caseExact: undefined, uniqueness: undefined } as const
const boolean = { type: "boolean", caseExact: undefined, uniqueness: undefined } as const

const userAttributes: ReadonlyArray<Attribute> = [
  given("userName", "The username, or what the service makes of a name that cannot be one.", { required: true, uniqueness: "server" }),
  given("name", "The full name; every login brings it up to date.", {
    ...complex,
    subAttributes: [
      given("formatted", "The full name."),
      given("givenName", "Counts where there is no formatted name.", { returned: "never" }),
      given("familyName", "Counts where there is no formatted name.", { returned: "never" })
    ]
  }),
  given("displayName", "The full name, or the username where there is none; counts where there is no name."),
  given("emails", "The address by which a login finds the user.", {
    ...complex,
    multiValued: true,
    required: true,
    subAttributes: [
      given("value", "The address.", { uniqueness: "server" }),
      given("type", "Always work.", { mutability: "readOnly" }),
      given("primary", "Which of several addresses counts; without one, the last.", boolean)
    ]
  }),
  given("active", "Whether the user may log in.", { ...boolean, mutability: "readWrite" })
]

/** The three documents, for an interface at this address. */
export const discovery = (
  base: string
): {
  readonly config: typeof ScimServiceProviderConfig.Type
  readonly resourceTypes: ReadonlyArray<typeof ScimResourceType.Type>
  readonly schemas: ReadonlyArray<typeof ScimSchema.Type>
} => ({
  config: {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    // Of filters, only one comparison is read
    filter: { supported: false, maxResults: maximumScimCount },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: false },
    authenticationSchemes: [
      {
        type: "oauthbearertoken",
        name: "Key",
        description: "The deployment's SCIM key as a bearer token.",
        specUri: "https://www.rfc-editor.org/rfc/rfc6750",
        primary: true
      }
    ],
    meta: { resourceType: "ServiceProviderConfig", location: `${base}/ServiceProviderConfig` }
  },
  resourceTypes: [
    {
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
      id: "User",
      name: "User",
      description: "Users who log in through the identity provider, and all others.",
      endpoint: "/Users",
      schema: scimUserSchema,
      meta: { resourceType: "ResourceType", location: `${base}/ResourceTypes/User` }
    }
  ],
  schemas: [
    {
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:Schema"],
      id: scimUserSchema,
      name: "User",
      description: "A user.",
      attributes: userAttributes,
      meta: { resourceType: "Schema", location: `${base}/Schemas/${scimUserSchema}` }
    }
  ]
})
