import type { AssignableRoles, Organization } from "@atelier/client"
import { useQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import { Plus } from "lucide-react"
import { useMay } from "../../app/session.js"
import { rolesText } from "../../texts/people.js"
import { Badge } from "../../ui/page/Badge.js"
import { ButtonLink } from "../../ui/forms/Button.js"
import { type Answer, List, ListRow } from "../../ui/lists/List.js"
import { Section } from "../../ui/page/Page.js"
import { OrganizationFrame } from "./OrganizationFrame.js"
import { organizationRolesQuery } from "./queries.js"

export const RoleList = () => {
  const { organization } = useParams({ from: "/organizations/$organization/roles" })
  return <OrganizationFrame name={organization}>{(known) => <Roles organization={known} />}</OrganizationFrame>
}

const Roles = ({ organization: { id, name: organization } }: { readonly organization: Organization }) => {
  const roles = useQuery(organizationRolesQuery(id))
  const may = useMay({ create: { on: "assign_org_role", to: "create", organization: id } })
  const some = (isBuiltIn: boolean): Answer<ReadonlyArray<AssignableRoles>> => ({
    ...roles,
    data: roles.data?.filter(({ built_in }) => built_in === isBuiltIn)
  })
  const rowOf = ({ built_in, display_name, name, organization_permissions }: AssignableRoles) => (
    <ListRow
      key={name}
      title={display_name || name}
      second={name}
      link={{ to: "/organizations/$organization/roles/$role", params: { organization, role: name } }}
    >
      {built_in ? (
        <Badge>{rolesText.builtIn}</Badge>
      ) : (
        <span className="faint">{rolesText.permissionCount(organization_permissions.length)}</span>
      )}
    </ListRow>
  )
  return (
    <>
      <Section
        isFlush
        title={rolesText.custom}
        actions={
          may.create ? (
            <ButtonLink kind="primary" icon={<Plus aria-hidden />} to="/organizations/$organization/create-role" params={{ organization }}>
              {rolesText.create}
            </ButtonLink>
          ) : undefined
        }
      >
        <List query={some(false)} empty={rolesText.noCustom} row={rowOf} />
      </Section>
      {roles.isLoadingError ? null : (
        <Section isFlush title={rolesText.builtIn}>
          <List query={some(true)} empty={null} row={rowOf} />
        </Section>
      )}
    </>
  )
}
